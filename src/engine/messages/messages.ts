import type { Message } from '../../contract/records/message.js'
import type { SignalKind } from '../../contract/signal.js'
import { type Delivery, type EngineDependencies, emit, type SessionContext, type SignalContext } from '../context.js'
import { bring, lay } from './bring-messages.js'
import { sayOf } from './message-text.js'
import { isWorthTurn } from './pick-messages.js'
import { fallbackOnError, markGiven, queuedFor, takeBack, toGive } from './ready-messages.js'
import {
  deliver,
  isInTranscript,
  isLeft,
  isPrompt,
  ordered,
  sameProcess,
  settleLost,
  settleOrders,
} from './wake-idle-session.js'

/**
 * A message is queued, given to the client in an answer it waits for (sent), and delivered once the client's next event
 * shows that it went on from there. If the client died in between, it is queued again and marked as repeated, unless the
 * conversation on disk already holds it.
 */

export type MessageContent = Pick<
  Message,
  'category' | 'mode' | 'agent_text' | 'user_text' | 'recovery' | 'text_file' | 'brief_id'
>

export function queue(
  context: SessionContext,
  content: MessageContent,
  to: { seatId: string; sessionId: string | null },
): Message {
  const { deps, at } = context
  const message = newMessage(deps, at, { ...content, sender: 'baton' }, to)
  deps.store.putMessage(message)
  emit(context, 'message_queued', {
    message_id: message.message_id,
    to: to.seatId,
    category: message.category,
    mode: message.mode,
  })
  if (isWorthTurn(message))
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => bring(deps, to.seatId)))
  return message
}

export function newMessage(
  deps: Pick<EngineDependencies, 'newId'>,
  at: string,
  content: MessageContent & Pick<Message, 'sender'>,
  to: { seatId: string; sessionId: string | null },
): Message {
  return {
    message_id: `msg_${deps.newId()}`,
    seat_id: to.seatId,
    session_id: to.sessionId,
    ...content,
    user_told_at: null,
    status: 'queued',
    queued_at: at,
    sent_at: null,
    delivered_at: null,
    via: null,
    repeated: false,
  }
}

/** Messages about the session at hand. */
export function ofSession({ record }: SessionContext, categories: readonly string[]): (message: Message) => boolean {
  return (m) => m.session_id === record.sessionId && categories.includes(m.category)
}

/** Messages about sessions this seat has left: ended ones, and those its process ran before. */
export function ofLeftSessions(
  { deps, record }: SessionContext,
  categories: readonly string[],
): (message: Message) => boolean {
  return (m) => {
    if (m.session_id === null || m.session_id === record.sessionId || !categories.includes(m.category)) return false
    const oldSession = deps.store.session(m.session_id)
    return oldSession === null || oldSession.state === 'ended' || sameProcess(oldSession.process, record.process)
  }
}

/** Cancels alerts that no longer describe anything, but for those a hook is just giving. Returns what was cancelled. */
export function cancelStale(context: SessionContext, reason: string, which: (message: Message) => boolean): Message[] {
  const { deps, record } = context
  const stale = (): Message[] =>
    deps.store.openMessages(record.seatId).filter((m) => m.status === 'queued' && m.sender === 'baton' && which(m))
  // Also one on its way by an order, if that was not begun; what was ordered with it still goes.
  if (deps.store.openMessages(record.seatId).some((m) => m.order_id && m.sender === 'baton' && which(m))) {
    settleOrders(context, null, true)
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => bring(deps, record.seatId)))
  }
  const found = stale()
  if (found.length === 0) return []
  const sessions = new Set(found.map((message) => message.session_id ?? record.sessionId))
  const inFlight = [...sessions].flatMap((sessionId) => takeBack(context, sessionId))
  const cancelled = stale().filter((message) => !inFlight.includes(message.message_id))
  for (const message of cancelled) {
    deps.store.putMessage({ ...message, status: 'cancelled' })
    emit(context, 'message_cancelled', { message_id: message.message_id, reason })
  }
  return cancelled
}

const HEARS = new Set<SignalKind>([
  ...(['tool-batch', 'turn-end', 'turn-failed', 'prompt', 'compact-start', 'session-start', 'session-end'] as const),
])

/** The client's next event on the main chain confirms what the answers before it carried. */
export function confirm(context: SignalContext): void {
  const { deps, record, signal } = context
  if (signal.subagent || !HEARS.has(signal.kind)) return
  if (signal.kind === 'prompt') delete record.insisted
  const open = deps.store.openMessages(record.seatId)
  if (open.length === 0) return
  if (ordered(open) || signal.prompt?.includes('[baton]')) settleOrders(context, signal.prompt ?? null, true)
  if (signal.kind === 'session-end') takeBack(context, record.sessionId)
  for (const message of deps.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || message.order_id || (message.session_id ?? record.sessionId) !== record.sessionId)
      continue
    const to = message.sent_to ?? record.sessionId
    if (to !== record.sessionId) {
      if (isLeft(context, to)) settleLost(context, message)
    } else if (goesOn(context, message)) deliver(context, message)
  }
}

/** Between a start and the first prompt the model is not asked, nor between a prompt and one typed behind it. */
function goesOn(context: SignalContext, message: Message): boolean {
  const { agent, record, signal, at } = context
  if (signal.kind === 'session-start') return false
  if (signal.kind === 'session-end') return isInTranscript(context, record.transcriptPath, message)
  if (signal.kind !== 'prompt') return true
  return !isPrompt(message) && !agent.carriers.slice(1).includes(message.via ?? '') && message.sent_at !== at
}

/** After a restart: what was given but never confirmed is given again, unless the conversation holds it. */
export function repeatUnheard(context: SignalContext): void {
  const { deps, record, signal } = context
  if (deps.store.openMessages(record.seatId).length === 0) return
  takeBack(context, record.sessionId)
  for (const message of deps.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || (message.session_id ?? record.sessionId) !== record.sessionId) continue
    const elsewhere = (message.sent_to ?? record.sessionId) !== record.sessionId
    const justNow = message.sent_at === context.at && message.via === signal.event
    if (!elsewhere && !justNow) settleLost(context, message)
  }
}

/**
 * Takes what waits into the answer to this signal; when nobody waits for an answer, leaves it for the next hook.
 * A subagent's events carry nothing: it is not the seat. Nor do those of a job: its runner speaks to it.
 * `signalId`: the id under which the signal may arrive again; null when it cannot.
 */
export function give(context: SignalContext, how: Delivery, signalId: string | null): string {
  const { deps, agent, record, signal } = context
  if (how === 'keep' || signal.subagent || record.jobId !== null) return ''
  if (queuedFor(deps.store.openMessages(record.seatId), record.sessionId).length === 0) return ''
  const turnEnds = agent.turnEnds.includes(signal.event)
  if (how === 'outbox') {
    const next = signal.kind === 'prompt' ? null : signal.kind
    const work = () => (turnEnds ? bring(deps, record.seatId) : deps.store.transaction(() => lay(context, next)))
    deps.store.afterCommit(() => fallbackOnError(context, undefined, work))
    return ''
  }
  const messages = toGive(context, signal.kind, { carrier: { event: signal.event, agent } })
  if (messages.length === 0) return ''
  const told = turnEnds ? continueWithMessages(context, messages, signalId) : null
  if (told !== null) return told
  // Nobody makes the agent go on with them: it is idle in a moment, and told then.
  if (turnEnds && messages.some(isWorthTurn))
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => bring(deps, record.seatId)))
  const carries = agent.carries(signal.event)
  const say = sayOf(messages)
  const answer = agent.answer(signal.event, {
    agent: carries.agent ? say.agent : null,
    user: carries.user ? say.user : null,
  })
  markGiven(context, messages, signal.event, signalId)
  return answer
}

/** Clients stop listening to those who keep a turn from ending; a handoff may need to do so too. */
const MOST_INSISTED = 5

/** The turn ends, and the agent goes on with what it was sent. null: it cannot be made to, or has been too often. */
function continueWithMessages(
  context: SignalContext,
  messages: readonly Message[],
  signalId: string | null,
): string | null {
  const { agent, record, signal } = context
  const called = messages.filter(isWorthTurn)
  const text = sayOf(called).agent
  const times = record.insisted ?? 0
  if (text === null || times >= MOST_INSISTED) return null
  const answer = agent.insist?.(signal.event, text, sayOf(messages).user) ?? null
  if (answer === null) return null
  record.insisted = times + 1
  markGiven(context, called, signal.event, signalId, { agent: true, user: true })
  markGiven(
    context,
    messages.filter((message) => !isWorthTurn(message)),
    signal.event,
    signalId,
  )
  return answer
}

/** Whether somebody's words wait for the end of this session's turn. */
export function awaitsTurnEnd({ deps, record }: SessionContext): boolean {
  if (record.state === 'ended' || record.jobId !== null) return false
  return queuedFor(deps.store.openMessages(record.seatId), record.sessionId).some(isWorthTurn)
}
