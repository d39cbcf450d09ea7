import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { Message } from '../../contract/records/message.js'
import type { SignalKind } from '../../contract/signal.js'
import type { EngineDependencies, SessionContext } from '../context.js'
import { textsOf } from './message-text.js'
import { canDeliverIn, type DeliveryMoment, pickMessages, type WaitReason } from './pick-messages.js'
import { hasOpenOrder, isSentAsPrompt, markMessageDelivered } from './wake-idle-session.js'

/** Marks messages as sent in the answer to `event`, if that answer can deliver them. */
export function markSentInAnswer(
  context: SessionContext,
  messages: readonly Message[],
  event: string,
  signalId: string | null = null,
  carries = context.agent.carries(event),
  sentAt = context.at,
): void {
  for (const message of messages) {
    const told: Message =
      carries.user && message.user_text && message.user_told_at === null
        ? { ...message, user_told_at: sentAt }
        : message
    if (message.agent_text === null) {
      if (told !== message || message.user_text === null)
        markMessageDelivered(context, { ...told, sent_at: sentAt, via: event })
    } else if (carries.agent) {
      const sent = {
        status: 'sent',
        sent_at: sentAt,
        via: event,
        sent_to: context.record.sessionId,
        sent_with: signalId,
      } as const
      context.deps.store.putMessage({ ...told, ...sent })
    } else if (told !== message) {
      context.deps.store.putMessage(told)
    }
  }
}

/** Returns the reason why all messages to the seat (terminal or job) must wait. Null if none. */
export function reasonToHold({ deps, record, at }: SessionContext, kind: SignalKind | null): WaitReason | null {
  const handoffs = deps.store.openHandoffs({ seatId: record.seatId })
  const leaves = handoffs.some(({ state, sessionId }) => state === 'clearing' && sessionId === record.sessionId)
  // Baton may never prompt a fresh session. After the deadline a message may start its turn.
  const isBegun = ({ state, dueAt }: HandoffRecord): boolean =>
    (state === 'confirmed' && dueAt !== null && at < dueAt) ||
    ((state === 'confirmed' || state === 'started') && kind === 'prompt')
  const begins = handoffs.some((handoff) => handoff.newSessionId === record.sessionId && isBegun(handoff))
  if (leaves) return 'the session is about to be handed over'
  if (begins) return 'the fresh session gets its brief first'
  const compacts = record.compaction !== null && !record.compaction.completed
  if (compacts && kind !== 'tool-batch' && kind !== 'turn-end') return 'the session is being compacted'
  // This prompt is a message of Baton's, and later messages must not appear before it.
  const own = (m: Message): boolean => m.status === 'sent' && isSentAsPrompt(m) && m.sent_at === at && !m.order_id
  const isBehindOwn = kind === 'prompt' && deps.store.openMessages(record.seatId).some(own)
  return isBehindOwn ? 'another prompt is delivered first' : null
}

/** Returns the messages that go to an idle session in a new prompt. */
export function messagesForPrompt(context: SessionContext): Message[] {
  if (hasOpenOrder(context.deps.store.openMessages(context.record.seatId))) return []
  return messagesToDeliver(context, null, { startsTurn: true })
}

/** Returns the messages to deliver now. Withdraws the answers in the outbox that contain them. */
export function messagesToDeliver(
  context: SessionContext,
  kind: SignalKind | null,
  moment: Partial<Pick<DeliveryMoment, 'unsettled' | 'startsTurn' | 'carrier'>> = {},
): Message[] {
  return pickDeliverable(context, kind, { ...moment, inFlight: withdrawAnswers(context, context.record.sessionId) })
}

/** Returns the messages that could be delivered now, and marks nothing. */
export function pickDeliverable(
  context: SessionContext,
  kind: SignalKind | null,
  moment: Partial<Omit<DeliveryMoment, 'sessionId' | 'held'>> = {},
): Message[] {
  const { deps, record } = context
  const open = deps.store.openMessages(record.seatId)
  const isForSeat = open.some(({ status, session_id }) => status === 'queued' && session_id === null)
  return pickMessages(open, {
    inFlight: [],
    unsettled: [],
    startsTurn: false,
    carrier: null,
    ...moment,
    sessionId: record.sessionId,
    held: isForSeat ? reasonToHold(context, kind) : null,
  }).now
}

/** Returns the queued messages for this session or for any session of its seat. */
export function messagesQueuedFor(messages: readonly Message[], sessionId: string): Message[] {
  return messages.filter((m) => m.status === 'queued' && (m.session_id === null || m.session_id === sessionId))
}

/**
 * Withdraws answers from the outbox and marks those that hooks delivered.
 * Returns the ids of messages that a hook has taken.
 */
export function withdrawAnswers(context: SessionContext, sessionId: string): string[] {
  const { deps, agent, record } = context
  const { given, inFlight } = fallbackOnError(context, { given: [], inFlight: [] }, () =>
    deps.outbox.collect(sessionId),
  )
  for (const { event, ids, at } of given) {
    const open = messagesQueuedFor(deps.store.openMessages(record.seatId), sessionId)
    const told = open.filter((message) => ids.includes(message.message_id) && canDeliverIn(agent, message, event))
    const sentAt = new Date(Math.min(at, Date.parse(context.at))).toISOString()
    markSentInAnswer(context, told, event, null, agent.carries(event), sentAt)
  }
  if (given.length > 0)
    deps.store.afterCommit(() => fallbackOnError(context, undefined, () => deps.outbox.forget(given)))
  return inFlight
}

/**
 * Runs work on files and returns `otherwise` if the work fails.
 * A signal is processed even if files cannot be used. Messages then wait for the next signal.
 */
export function fallbackOnError<T>({ deps }: Pick<SessionContext, 'deps'>, otherwise: T, work: () => T): T {
  try {
    return work()
  } catch (error) {
    deps.log('warn', 'the outbox cannot be used', { reason: String(error) })
    return otherwise
  }
}

/**
 * Takes the messages for a job's session: lost facts and sent messages. Null when none wait.
 * The job's runner puts them into the answer to `event`. The client's next event confirms them.
 */
export function takeJobMessages(deps: EngineDependencies, sessionId: string, event: string): string | null {
  return deps.store.transaction(() => {
    const record = deps.store.session(sessionId)
    const agent = deps.agents[record?.agent ?? '']
    if (!record || !agent) return null
    const open = deps.store.openMessages(record.seatId).filter(({ agent_text }) => agent_text !== null)
    const moment = { sessionId, held: null, inFlight: [], unsettled: [], startsTurn: false, carrier: null }
    const messages = pickMessages(open, moment).now
    if (messages.length === 0) return null
    const context: SessionContext = { deps, agent, record, at: deps.now().toISOString(), events: [] }
    markSentInAnswer(context, messages, event, null, { agent: true, user: false })
    return textsOf(messages).agent
  })
}
