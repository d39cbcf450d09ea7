import type { Message } from '../../contract/records/message.js'
import type { SignalKind } from '../../contract/signal.js'
import {
  type EngineDependencies,
  emit,
  type MessageDelivery,
  type SessionContext,
  type SignalContext,
} from '../context.js'
import { prepareOutbox, sendToSeat } from './deliver-to-seat.js'
import { textsOf } from './message-text.js'
import { isWorthTurn } from './pick-messages.js'
import {
  fallbackOnError,
  markSentInAnswer,
  messagesQueuedFor,
  messagesToDeliver,
  withdrawAnswers,
} from './ready-messages.js'
import {
  hasOpenOrder,
  isInTranscript,
  isSentAsPrompt,
  isSessionGone,
  markMessageDelivered,
  requeueUnconfirmedMessage,
  sameProcess,
  settleOrders,
} from './wake-idle-session.js'

/**
 * Delivery of messages. A message is queued, then `sent` in an answer that the client waits for.
 * A message is `delivered` once the client's next event shows that it continued from there.
 * If the client died in between, the message is queued again and marked as repeated.
 * A message that the conversation on disk holds is not repeated.
 */

type MessageContent = Pick<
  Message,
  'category' | 'mode' | 'agent_text' | 'user_text' | 'recovery' | 'text_file' | 'brief_id'
>

export function queueMessage(
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
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => sendToSeat(deps, to.seatId)))
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

/** Selects messages about this session. */
export function isAboutSession(
  { record }: SessionContext,
  categories: readonly string[],
): (message: Message) => boolean {
  return (m) => m.session_id === record.sessionId && categories.includes(m.category)
}

/** Selects messages about sessions that ended or that this seat's process ran before. */
export function isAboutLeftSession(
  { deps, record }: SessionContext,
  categories: readonly string[],
): (message: Message) => boolean {
  return (m) => {
    if (m.session_id === null || m.session_id === record.sessionId || !categories.includes(m.category)) return false
    const oldSession = deps.store.session(m.session_id)
    return oldSession === null || oldSession.state === 'ended' || sameProcess(oldSession.process, record.process)
  }
}

/**
 * Cancels outdated alerts, except those that a hook is delivering now. Returns the cancelled ones.
 */
export function cancelStaleMessages(
  context: SessionContext,
  reason: string,
  which: (message: Message) => boolean,
): Message[] {
  const { deps, record } = context
  const stale = (): Message[] =>
    deps.store.openMessages(record.seatId).filter((m) => m.status === 'queued' && m.sender === 'baton' && which(m))
  // Messages of an order that was not begun are cancelled too.
  // Messages of orders that were begun are sent again.
  if (deps.store.openMessages(record.seatId).some((m) => m.order_id && m.sender === 'baton' && which(m))) {
    settleOrders(context, null, true)
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => sendToSeat(deps, record.seatId)))
  }
  const found = stale()
  if (found.length === 0) return []
  const sessions = new Set(found.map((message) => message.session_id ?? record.sessionId))
  const inFlight = [...sessions].flatMap((sessionId) => withdrawAnswers(context, sessionId))
  const cancelled = stale().filter((message) => !inFlight.includes(message.message_id))
  for (const message of cancelled) {
    deps.store.putMessage({ ...message, status: 'cancelled' })
    emit(context, 'message_cancelled', { message_id: message.message_id, reason })
  }
  return cancelled
}

const CONFIRMING_SIGNALS = new Set<SignalKind>([
  ...(['tool-batch', 'turn-end', 'turn-failed', 'prompt', 'compact-start', 'session-start', 'session-end'] as const),
])

/** Marks messages as delivered if the answers before this main-chain event contained them. */
export function confirmDeliveredMessages(context: SignalContext): void {
  const { deps, record, signal } = context
  if (signal.subagent || !CONFIRMING_SIGNALS.has(signal.kind) || isFromEarlierClient(context)) return
  if (signal.kind === 'prompt') delete record.insisted
  const open = deps.store.openMessages(record.seatId)
  if (open.length === 0) return
  if (hasOpenOrder(open) || signal.prompt?.includes('[baton]')) settleOrders(context, signal.prompt ?? null, true)
  if (signal.kind === 'session-end') withdrawAnswers(context, record.sessionId)
  for (const message of deps.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || message.order_id || (message.session_id ?? record.sessionId) !== record.sessionId)
      continue
    const to = message.sent_to ?? record.sessionId
    if (to !== record.sessionId) {
      if (isSessionGone(context, to)) requeueUnconfirmedMessage(context, message)
    } else if (wasModelAsked(context, message)) markMessageDelivered(context, message)
  }
}

/**
 * True for a late signal of a killed client whose session another client has resumed.
 * Such a late signal says nothing about the messages that were sent to the new client.
 */
function isFromEarlierClient({ agent, record, isOrphaned }: SignalContext): boolean {
  return isOrphaned && record.process !== null && agent.alive(record.process)
}

/**
 * True when this event shows that the model was asked since the message was sent.
 * Nothing is asked between a start and the first prompt, nor between two prompts in a row.
 */
function wasModelAsked(context: SignalContext, message: Message): boolean {
  const { agent, record, signal, at } = context
  if (signal.kind === 'session-start') return false
  if (signal.kind === 'session-end') return isInTranscript(context, record.transcriptPath, message)
  if (signal.kind !== 'prompt') return true
  return !isSentAsPrompt(message) && !agent.carriers.slice(1).includes(message.via ?? '') && message.sent_at !== at
}

/**
 * Maximum milliseconds by which a file's time may be earlier than the clock.
 * Linux stamps files with the kernel's last tick, which is at most 10 ms old.
 */
const FILE_CLOCK_MS = 10

/**
 * Returns the end of the second for a time without milliseconds. Other times stay as they are.
 * Bash before version 5 reports times without fractions.
 * A message that the killed client got in that second must be repeated.
 */
function laterIfRounded(ms: number): number {
  return ms % 1000 === 0 ? ms + 1000 : ms
}

/**
 * Sends messages that were never confirmed again after a restart.
 * Messages that the conversation holds are not repeated.
 * Messages sent since the restart are not repeated, either.
 * The restarted client's hooks may still print such a message before this signal is processed.
 */
export function repeatUnconfirmedMessages(context: SignalContext): void {
  const { deps, record, signal } = context
  if (deps.store.openMessages(record.seatId).length === 0) return
  withdrawAnswers(context, record.sessionId)
  const restartedAt = new Date(laterIfRounded(signal.at) - FILE_CLOCK_MS).toISOString()
  for (const message of deps.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || (message.session_id ?? record.sessionId) !== record.sessionId) continue
    const elsewhere = (message.sent_to ?? record.sessionId) !== record.sessionId
    if (!elsewhere && message.sent_at! < restartedAt) requeueUnconfirmedMessage(context, message)
  }
}

/**
 * Puts waiting messages into the answer to this signal, or into the outbox for the next hook.
 * Answers to a subagent's events and to hooks of a dead client contain no messages.
 * In a job, its runner sends the messages.
 * `signalId`: the id under which the signal may arrive again. Null when it cannot.
 */
export function answerWithMessages(context: SignalContext, how: MessageDelivery, signalId: string | null): string {
  const { deps, agent, record, signal } = context
  if (how === 'keep' || signal.subagent || record.jobId !== null) return ''
  if (how === 'answer' && context.isOrphaned) return ''
  if (messagesQueuedFor(deps.store.openMessages(record.seatId), record.sessionId).length === 0) return ''
  const turnEnds = agent.turnEnds.includes(signal.event)
  if (how === 'outbox') {
    const next = signal.kind === 'prompt' ? null : signal.kind
    const work = () =>
      turnEnds ? sendToSeat(deps, record.seatId) : deps.store.transaction(() => prepareOutbox(context, next))
    deps.store.afterCommit(() => fallbackOnError(context, undefined, work))
    return ''
  }
  const messages = messagesToDeliver(context, signal.kind, { carrier: { event: signal.event, agent } })
  if (messages.length === 0) return ''
  const told = turnEnds ? continueWithMessages(context, messages, signalId) : null
  if (told !== null) return told
  // The agent cannot be made to continue its turn with them, so it is woken once it is idle.
  if (turnEnds && messages.some(isWorthTurn))
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => sendToSeat(deps, record.seatId)))
  const carries = agent.carries(signal.event)
  const say = textsOf(messages)
  const answer = agent.answer(signal.event, {
    agent: carries.agent ? say.agent : null,
    user: carries.user ? say.user : null,
  })
  markSentInAnswer(context, messages, signal.event, signalId)
  return answer
}

/**
 * Most turns in a row that messages may continue.
 * Clients ignore hooks that keep a turn from ending, and a handoff may need such a hook too.
 */
const MOST_INSISTED = 5

/**
 * Makes the agent continue its turn with the messages. Null when that is impossible or too often.
 */
function continueWithMessages(
  context: SignalContext,
  messages: readonly Message[],
  signalId: string | null,
): string | null {
  const { agent, record, signal } = context
  const called = messages.filter(isWorthTurn)
  const text = textsOf(called).agent
  const times = record.insisted ?? 0
  if (text === null || times >= MOST_INSISTED) return null
  const answer = agent.insist?.(signal.event, text, textsOf(messages).user) ?? null
  if (answer === null) return null
  record.insisted = times + 1
  markSentInAnswer(context, called, signal.event, signalId, { agent: true, user: true })
  markSentInAnswer(
    context,
    messages.filter((message) => !isWorthTurn(message)),
    signal.event,
    signalId,
  )
  return answer
}

/** True when a sender's message waits for the end of this session's turn. */
export function awaitsTurnEnd({ deps, record }: SessionContext): boolean {
  if (record.state === 'ended' || record.jobId !== null) return false
  return messagesQueuedFor(deps.store.openMessages(record.seatId), record.sessionId).some(isWorthTurn)
}
