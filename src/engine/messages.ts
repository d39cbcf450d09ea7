import type { Message } from '../contract/message.js'
import type { SessionRecord } from '../contract/record.js'
import { type Desk, type Draft, emit } from './draft.js'

/**
 * A message is queued, given to the client in an answer it waits for (sent), and delivered once the client's next event
 * shows that it went on from there. If the client died in between, it is queued again and marked as repeated, unless the
 * conversation on disk already holds it.
 */

/** `answer`: the client waits for this answer. `outbox`: nobody waits, the next hook takes it along. `keep`: it stays in the queue. */
export type Delivery = 'answer' | 'outbox' | 'keep'

export type Draftless = Pick<Message, 'category' | 'mode' | 'agent_text' | 'user_text' | 'recovery'>

export function queue(draft: Desk, content: Draftless, to: { seatId: string; sessionId: string | null }): Message {
  const message: Message = {
    message_id: `msg_${draft.parts.newId()}`,
    seat_id: to.seatId,
    session_id: to.sessionId,
    sender: 'baton',
    ...content,
    user_told_at: null,
    status: 'queued',
    queued_at: draft.at,
    sent_at: null,
    delivered_at: null,
    via: null,
    repeated: false,
  }
  draft.parts.store.putMessage(message)
  emit(draft, 'message_queued', { message_id: message.message_id, to: to.seatId, category: message.category, mode: message.mode })
  return message
}

/** Messages about the session at hand. */
export function ofSession({ record }: Desk, categories: readonly string[]): (message: Message) => boolean {
  return (m) => m.session_id === record.sessionId && categories.includes(m.category)
}

/** Messages about sessions this seat has left: ended ones, and those its process ran before. */
export function ofLeftSessions({ parts, record }: Desk, categories: readonly string[]): (message: Message) => boolean {
  const same = (one: SessionRecord['process']): boolean =>
    one?.pid === record.process?.pid && one?.startedAt === record.process?.startedAt
  return (m) => {
    if (m.session_id === null || m.session_id === record.sessionId || !categories.includes(m.category)) return false
    const left = parts.store.session(m.session_id)
    return left === null || left.state === 'ended' || same(left.process)
  }
}

/** Cancels alerts that no longer describe anything, but for those a hook is just giving. Returns what was cancelled. */
export function cancelStale(desk: Desk, reason: string, which: (message: Message) => boolean): Message[] {
  const { parts, record } = desk
  const stale = (): Message[] =>
    parts.store.openMessages(record.seatId).filter((m) => m.status === 'queued' && m.sender === 'baton' && which(m))
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

const GOES_ON = new Set(['tool-batch', 'turn-end', 'turn-failed', 'prompt', 'compact-start'])

/** The client's next event on the main chain confirms what the answers before it carried. */
export function confirm(draft: Draft): void {
  if (draft.signal.subagent || !GOES_ON.has(draft.signal.kind)) return
  for (const message of draft.parts.store.openMessages(draft.record.seatId)) {
    if (message.status !== 'sent' || (message.session_id !== null && message.session_id !== draft.record.sessionId)) continue
    deliver(draft, message)
  }
}

function deliver(desk: Desk, message: Message): void {
  desk.parts.store.putMessage({ ...message, status: 'delivered', delivered_at: desk.at })
  emit(desk, 'message_delivered', { message_id: message.message_id, via: message.via, repeated: message.repeated })
  if (!message.recovery) return
  const { compaction, steps } = message.recovery
  for (const { step, facts } of steps)
    emit(desk, 'recovery_delivered', { message_id: message.message_id, compaction_started_at: compaction, step, facts })
}

/** After a restart: what was given but never confirmed is given again, unless the conversation holds it. */
export function repeatUnheard(draft: Draft): void {
  const { parts, record, signal } = draft
  if (parts.store.openMessages(record.seatId).length === 0) return
  takeBack(draft, record.sessionId)
  for (const message of parts.store.openMessages(record.seatId)) {
    if (message.status !== 'sent' || (message.session_id !== null && message.session_id !== record.sessionId)) continue
    const justNow = message.sent_at === draft.at && message.via === signal.event
    if (justNow) continue
    if (record.transcriptPath && message.agent_text && draft.agent.heard(record.transcriptPath, message.agent_text)) {
      deliver(draft, message)
    } else parts.store.putMessage({ ...message, status: 'queued', sent_at: null, via: null, repeated: true })
  }
}

const REPEATED = '[baton] (repeated: the client stopped before this could be confirmed)'

/** What waits for this session and fits into the answer to this event. Nothing is marked. */
export function waiting(messages: readonly Message[], sessionId: string): Message[] {
  return messages.filter((m) => m.status === 'queued' && (m.session_id === null || m.session_id === sessionId))
}

export function sayOf(messages: readonly Message[]): { agent: string | null; user: string | null } {
  const agent = messages.flatMap((m) => (m.agent_text ? [m.repeated ? `${REPEATED}\n${m.agent_text}` : m.agent_text] : []))
  const user = messages.flatMap((m) => (m.user_text && m.user_told_at === null ? [m.user_text] : []))
  return { agent: agent.length > 0 ? agent.join('\n\n') : null, user: user.length > 0 ? user.join('\n') : null }
}

/** Marks messages as given in the answer to `event`, as far as that answer can carry them. */
export function markGiven(draft: Desk, messages: readonly Message[], event: string, signalId: string | null = null): void {
  const carries = draft.agent.carries(event)
  for (const message of messages) {
    const told: Message =
      carries.user && message.user_text && message.user_told_at === null ? { ...message, user_told_at: draft.at } : message
    if (message.agent_text === null) {
      if (told !== message || message.user_text === null) deliver(draft, { ...told, sent_at: draft.at, via: event })
    } else if (carries.agent) {
      draft.parts.store.putMessage({ ...told, status: 'sent', sent_at: draft.at, via: event, sent_with: signalId })
    } else if (told !== message) {
      draft.parts.store.putMessage(told)
    }
  }
}

/** What every client takes whole; the rest waits for the next answer. */
const LONGEST = 9_000

function fitting(messages: readonly Message[]): Message[] {
  let length = 0
  const end = messages.findIndex((message, index) => {
    length += (message.agent_text ?? '').length + REPEATED.length
    return index > 0 && length > LONGEST
  })
  return messages.slice(0, end < 0 ? messages.length : end)
}

/**
 * Takes what waits into the answer to this signal; when nobody waits for an answer, leaves it for the next hook.
 * A subagent's events carry nothing: it is not the seat. Nor do those of a job: its runner speaks to it.
 */
export function give(draft: Draft, how: Delivery, signalId: string | null): string {
  const { parts, agent, record, signal } = draft
  if (how === 'keep' || signal.subagent || record.jobId !== null) return ''
  if (waiting(parts.store.openMessages(record.seatId), record.sessionId).length === 0) return ''
  if (how === 'outbox') {
    parts.store.afterCommit(() => unhurt(draft, undefined, () => parts.store.transaction(() => lay(draft))))
    return ''
  }
  const messages = toGive(draft)
  if (messages.length === 0) return ''
  const carries = agent.carries(signal.event)
  const say = sayOf(messages)
  const answer = agent.answer(signal.event, { agent: carries.agent ? say.agent : null, user: carries.user ? say.user : null })
  markGiven(draft, messages, signal.event, signalId)
  return answer
}

/** What waits, after taking back what lay for the next hook, and without what a hook has in its hands. */
function toGive(desk: Desk): Message[] {
  const inFlight = takeBack(desk, desk.record.sessionId)
  const open = waiting(desk.parts.store.openMessages(desk.record.seatId), desk.record.sessionId)
  return fitting(open.filter((message) => !inFlight.includes(message.message_id)))
}

/** What lies for the next hook is taken back; what hooks gave meanwhile is noted. Returns the ids still in a hook's hands. */
function takeBack(desk: Desk, sessionId: string): string[] {
  const { parts, record } = desk
  const { given, inFlight } = unhurt(desk, { given: [], inFlight: [] }, () => parts.outbox.collect(sessionId))
  for (const { event, ids } of given) {
    const open = waiting(parts.store.openMessages(record.seatId), sessionId)
    const told = open.filter((message) => ids.includes(message.message_id))
    markGiven(desk, told, event)
  }
  if (given.length > 0) parts.store.afterCommit(() => unhurt(desk, undefined, () => parts.outbox.forget(given)))
  return inFlight
}

/** Files that cannot be read or written must not keep a signal from being taken: what waits, waits for the next. */
export function unhurt<T>({ parts }: Desk, otherwise: T, work: () => T): T {
  try {
    return work()
  } catch (error) {
    parts.log('warn', 'the outbox cannot be used', { reason: String(error) })
    return otherwise
  }
}

/** In a transaction of its own, so that only what is kept for good is laid. */
function lay(desk: Desk): void {
  const { parts, agent, record } = desk
  const idsOf = (messages: readonly Message[]): string[] => messages.map((message) => message.message_id)
  const waits = fitting(waiting(parts.store.openMessages(record.seatId), record.sessionId))
  if (parts.outbox.holds(record.sessionId, idsOf(waits))) return
  const messages = toGive(desk)
  if (messages.length === 0) return
  const answers = Object.fromEntries(agent.carriers.map((event) => [event, agent.answer(event, sayOf(messages))]))
  parts.outbox.lay(record.sessionId, idsOf(messages), answers)
}
