import type { Message } from '../contract/message.js'
import type { SignalKind } from '../contract/signal.js'
import { bring, lay } from './bring-messages.js'
import { type Desk, type Draft, emit, type Parts } from './draft.js'
import { markGiven, takeBack, toGive, unhurt } from './ready-messages.js'
import { calls, isFigures, rides, sayOf, signOf, waiting } from './waiting-messages.js'
import { deliver, isLeft, isPrompt, ordered, sameProcess, settleLost, settleOrders } from './wake.js'

/**
 * A message is queued, given to the client in an answer it waits for (sent), and delivered once the client's next event
 * shows that it went on from there. If the client died in between, it is queued again and marked as repeated, unless the
 * conversation on disk already holds it.
 */

/** `answer`: the client waits for this answer. `outbox`: nobody waits, the next hook takes it along. `keep`: it stays in the queue. */
export type Delivery = 'answer' | 'outbox' | 'keep'

export type Draftless = Pick<Message, 'category' | 'mode' | 'agent_text' | 'user_text' | 'recovery' | 'text_file' | 'brief_id'>

export function queue(draft: Desk, content: Draftless, to: { seatId: string; sessionId: string | null }): Message {
  const { parts, at } = draft
  const message = newMessage(parts, at, { ...content, sender: 'baton' }, to)
  parts.store.putMessage(message)
  emit(draft, 'message_queued', { message_id: message.message_id, to: to.seatId, category: message.category, mode: message.mode })
  if (calls(message)) parts.store.afterCommit(() => unhurt(draft, undefined, () => bring(parts, to.seatId)))
  return message
}

export function newMessage(
  parts: Pick<Parts, 'newId'>,
  at: string,
  content: Draftless & Pick<Message, 'sender'>,
  to: { seatId: string; sessionId: string | null },
): Message {
  return {
    message_id: `msg_${parts.newId()}`,
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
export function ofSession({ record }: Desk, categories: readonly string[]): (message: Message) => boolean {
  return (m) => m.session_id === record.sessionId && categories.includes(m.category)
}

/** Messages about sessions this seat has left: ended ones, and those its process ran before. */
export function ofLeftSessions({ parts, record }: Desk, categories: readonly string[]): (message: Message) => boolean {
  return (m) => {
    if (m.session_id === null || m.session_id === record.sessionId || !categories.includes(m.category)) return false
    const left = parts.store.session(m.session_id)
    return left === null || left.state === 'ended' || sameProcess(left.process, record.process)
  }
}

/** Cancels alerts that no longer describe anything, but for those a hook is just giving. Returns what was cancelled. */
export function cancelStale(desk: Desk, reason: string, which: (message: Message) => boolean): Message[] {
  const { parts, record } = desk
  const stale = (): Message[] =>
    parts.store.openMessages(record.seatId).filter((m) => m.status === 'queued' && m.sender === 'baton' && which(m))
  // Also one on its way by an order, if that was not begun; what was ordered with it still goes.
  if (parts.store.openMessages(record.seatId).some((m) => m.order_id && m.sender === 'baton' && which(m))) {
    settleOrders(desk, null, true)
    parts.store.afterCommit(() => unhurt(desk, undefined, () => bring(parts, record.seatId)))
  }
  const found = stale()
  if (found.length === 0) return []
  const sessions = new Set(found.map((message) => message.session_id ?? record.sessionId))
  const inFlight = [...sessions].flatMap((sessionId) => takeBack(desk, sessionId))
  const cancelled = stale().filter((message) => !inFlight.includes(message.message_id))
  for (const message of cancelled) {
    parts.store.putMessage({ ...message, status: 'cancelled' })
    emit(desk, 'message_cancelled', { message_id: message.message_id, reason })
  }
  return cancelled
}

const HEARS = new Set<SignalKind>([
  ...(['tool-batch', 'turn-end', 'turn-failed', 'prompt', 'compact-start', 'session-start', 'session-end'] as const),
])

/** The client's next event on the main chain confirms what the answers before it carried. */
export function confirm(draft: Draft): void {
  const { parts, record, signal } = draft
  if (signal.subagent || !HEARS.has(signal.kind)) return
  if (signal.kind === 'prompt') delete record.insisted
  const open = parts.store.openMessages(record.seatId)
  if (open.length === 0) return
  if (ordered(open) || signal.prompt?.includes('[baton]')) settleOrders(draft, signal.prompt ?? null, true)
  if (signal.kind === 'session-end') takeBack(draft, record.sessionId)
  for (const message of parts.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || message.order_id || (message.session_id ?? record.sessionId) !== record.sessionId) continue
    const to = message.sent_to ?? record.sessionId
    if (to !== record.sessionId) {
      if (isLeft(draft, to)) settleLost(draft, message)
    } else if (goesOn(draft, message)) deliver(draft, message)
  }
}

/** Between a start and the first prompt the model is not asked, nor between a prompt and one typed behind it. */
function goesOn({ agent, record, signal, at }: Draft, message: Message): boolean {
  if (signal.kind === 'session-start') return false
  if (signal.kind === 'session-end') return record.transcriptPath !== null && agent.heard(record.transcriptPath, signOf(message))
  if (signal.kind !== 'prompt') return true
  return !isPrompt(message) && !agent.carriers.slice(1).includes(message.via ?? '') && message.sent_at !== at
}

/** After a restart: what was given but never confirmed is given again, unless the conversation holds it. */
export function repeatUnheard(draft: Draft): void {
  const { parts, record, signal } = draft
  if (parts.store.openMessages(record.seatId).length === 0) return
  takeBack(draft, record.sessionId)
  for (const message of parts.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || (message.session_id ?? record.sessionId) !== record.sessionId) continue
    const elsewhere = (message.sent_to ?? record.sessionId) !== record.sessionId
    const justNow = message.sent_at === draft.at && message.via === signal.event
    if (!elsewhere && !justNow) settleLost(draft, message)
  }
}

/** Who waits for the answer: under what id its signal came, and whether it may be anybody. */
export interface Asker {
  signalId: string | null
  stranger: boolean
}

/**
 * Takes what waits into the answer to this signal; when nobody waits for an answer, leaves it for the next hook.
 * A subagent's events carry nothing: it is not the seat. Nor do those of a job: its runner speaks to it.
 */
export function give(draft: Draft, how: Delivery, { signalId, stranger }: Asker): string {
  const { parts, agent, record, signal } = draft
  if (how === 'keep' || signal.subagent || record.jobId !== null) return ''
  if (waiting(parts.store.openMessages(record.seatId), record.sessionId).length === 0) return ''
  const turnEnds = agent.turnEnds.includes(signal.event)
  if (how === 'outbox') {
    const next = signal.kind === 'prompt' ? null : signal.kind
    const work = () => (turnEnds ? bring(parts, record.seatId) : parts.store.transaction(() => lay(draft, next)))
    parts.store.afterCommit(() => unhurt(draft, undefined, work))
    return ''
  }
  const messages = toGive(draft, signal.kind).filter(
    (message) => rides(agent, message, signal.event) && (!stranger || isFigures(message)),
  )
  if (messages.length === 0) return ''
  const told = turnEnds ? goOnWith(draft, messages, signalId) : null
  if (told !== null) return told
  // Nobody makes the agent go on with them: it is idle in a moment, and told then.
  if (turnEnds && messages.some(calls)) parts.store.afterCommit(() => unhurt(draft, undefined, () => bring(parts, record.seatId)))
  const carries = agent.carries(signal.event)
  const say = sayOf(messages)
  const answer = agent.answer(signal.event, { agent: carries.agent ? say.agent : null, user: carries.user ? say.user : null })
  markGiven(draft, messages, signal.event, signalId)
  return answer
}

/** Clients stop listening to those who keep a turn from ending; a handoff may need to do so too. */
const MOST_INSISTED = 5

/** The turn ends, and the agent goes on with what it was sent. null: it cannot be made to, or has been too often. */
function goOnWith(draft: Draft, messages: readonly Message[], signalId: string | null): string | null {
  const { agent, record, signal } = draft
  const called = messages.filter(calls)
  const text = sayOf(called).agent
  const times = record.insisted ?? 0
  if (text === null || times >= MOST_INSISTED) return null
  const answer = agent.insist?.(signal.event, text, sayOf(messages).user) ?? null
  if (answer === null) return null
  record.insisted = times + 1
  markGiven(draft, called, signal.event, signalId, { agent: true, user: true })
  markGiven(
    draft,
    messages.filter((message) => !calls(message)),
    signal.event,
    signalId,
  )
  return answer
}

/** Whether somebody's words wait for the end of this session's turn. */
export function awaitsTurnEnd({ parts, record }: Desk): boolean {
  if (record.state === 'ended' || record.jobId !== null) return false
  return waiting(parts.store.openMessages(record.seatId), record.sessionId).some(calls)
}
