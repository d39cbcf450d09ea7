import type { HandoffRecord } from '../contract/handoff.js'
import type { Message } from '../contract/message.js'
import type { SignalKind } from '../contract/signal.js'
import type { Desk } from './draft.js'
import { calls, fitting, inLine, rides, waiting } from './waiting-messages.js'
import { deliver, isPrompt, ordered } from './wake.js'

/** Marks messages as given in the answer to `event`, as far as that answer can carry them. */
export function markGiven(
  draft: Desk,
  messages: readonly Message[],
  event: string,
  signalId: string | null = null,
  carries = draft.agent.carries(event),
): void {
  for (const message of messages) {
    const told: Message =
      carries.user && message.user_text && message.user_told_at === null ? { ...message, user_told_at: draft.at } : message
    if (message.agent_text === null) {
      if (told !== message || message.user_text === null) deliver(draft, { ...told, sent_at: draft.at, via: event })
    } else if (carries.agent) {
      const sent = {
        status: 'sent',
        sent_at: draft.at,
        via: event,
        sent_to: draft.record.sessionId,
        sent_with: signalId,
      } as const
      draft.parts.store.putMessage({ ...told, ...sent })
    } else if (told !== message) {
      draft.parts.store.putMessage(told)
    }
  }
}

/** Whether what is sent to the seat has to wait: the session is about to be left, has just begun from a brief, or is being compacted. */
function isHeld({ parts, record, at }: Desk, kind: SignalKind | null): boolean {
  const handoffs = parts.store.openHandoffs({ seatId: record.seatId })
  const leaves = handoffs.some(({ state, sessionId }) => state === 'clearing' && sessionId === record.sessionId)
  // Nobody may ever prompt a fresh session: after the time that was given for it, whoever writes to it does.
  const isBegun = ({ state, dueAt }: HandoffRecord): boolean =>
    (state === 'confirmed' && dueAt !== null && at < dueAt) ||
    ((state === 'confirmed' || state === 'started') && kind === 'prompt')
  const begins = handoffs.some((handoff) => handoff.newSessionId === record.sessionId && isBegun(handoff))
  if (leaves || begins) return true
  const compacts = record.compaction !== null && !record.compaction.completed
  if (compacts && kind !== 'tool-batch' && kind !== 'turn-end') return true
  // The prompt is one of ours: what waits behind it must not stand before it.
  const own = (m: Message): boolean => m.status === 'sent' && isPrompt(m) && m.sent_at === at && !m.order_id
  return kind === 'prompt' && parts.store.openMessages(record.seatId).some(own)
}

/** What of it may be said to an idle session now. */
export function toSay(desk: Desk): Message[] {
  const underway = ordered(desk.parts.store.openMessages(desk.record.seatId))
  return underway ? [] : fitting(toGive(desk, null).filter(calls))
}

/** What waits, after taking back what lay for the next hook, and without what a hook has in its hands. */
export function toGive(desk: Desk, kind: SignalKind | null, unsettled: readonly Message[] = []): Message[] {
  const inFlight = takeBack(desk, desk.record.sessionId)
  return fitting(inLine(allowed(desk, kind), inFlight, unsettled))
}

export function allowed(desk: Desk, kind: SignalKind | null): Message[] {
  const open = waiting(desk.parts.store.openMessages(desk.record.seatId), desk.record.sessionId)
  return open.some((message) => message.session_id === null) && isHeld(desk, kind)
    ? open.filter((message) => message.session_id !== null)
    : open
}

/** What lies for the next hook is taken back; what hooks gave meanwhile is noted. Returns the ids still in a hook's hands. */
export function takeBack(desk: Desk, sessionId: string): string[] {
  const { parts, agent, record } = desk
  const { given, inFlight } = unhurt(desk, { given: [], inFlight: [] }, () => parts.outbox.collect(sessionId))
  for (const { event, ids } of given) {
    const open = waiting(parts.store.openMessages(record.seatId), sessionId)
    const told = open.filter((message) => ids.includes(message.message_id) && rides(agent, message, event))
    markGiven(desk, told, event)
  }
  if (given.length > 0) parts.store.afterCommit(() => unhurt(desk, undefined, () => parts.outbox.forget(given)))
  return inFlight
}

/** Files that cannot be read or written must not keep a signal from being taken: what waits, waits for the next. */
export function unhurt<T>({ parts }: Pick<Desk, 'parts'>, otherwise: T, work: () => T): T {
  try {
    return work()
  } catch (error) {
    parts.log('warn', 'the outbox cannot be used', { reason: String(error) })
    return otherwise
  }
}
