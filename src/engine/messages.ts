import type { Message } from '../contract/message.js'
import { type Draft, emit } from './draft.js'

/**
 * A message is queued, given to the client in an answer it waits for (sent), and delivered once the client's next event
 * shows that it went on from there. If the client died in between, it is queued again and marked as repeated, unless the
 * conversation on disk already holds it.
 */

/** `answer`: the client waits for this answer. `outbox`: nobody waits, the next hook takes it along. `keep`: it stays in the queue. */
export type Delivery = 'answer' | 'outbox' | 'keep'

export type Draftless = Pick<Message, 'category' | 'mode' | 'agent_text' | 'user_text'>

export function queue(draft: Draft, content: Draftless, to: { seatId: string; sessionId: string | null }): Message {
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

/** Alerts that no longer describe the session. */
export function cancelStale(draft: Draft, reason: string, categories: readonly string[] = ['context']): void {
  const { parts, record } = draft
  const stale = (m: Message): boolean => m.status === 'queued' && m.sender === 'baton' && categories.includes(m.category)
  if (!parts.store.openMessages(record.seatId).some(stale)) return
  const inFlight = takeBack(draft)
  for (const message of parts.store.openMessages(record.seatId).filter(stale)) {
    if (inFlight.includes(message.message_id)) continue
    draft.parts.store.putMessage({ ...message, status: 'cancelled' })
    emit(draft, 'message_cancelled', { message_id: message.message_id, reason })
  }
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

function deliver(draft: Draft, message: Message): void {
  draft.parts.store.putMessage({ ...message, status: 'delivered', delivered_at: draft.at })
  emit(draft, 'message_delivered', { message_id: message.message_id, via: message.via, repeated: message.repeated })
}

/** After a restart: what was given but never confirmed is given again, unless the conversation holds it. */
export function repeatUnheard(draft: Draft): void {
  const path = draft.record.transcriptPath
  for (const message of draft.parts.store.openMessages(draft.record.seatId)) {
    if (message.status !== 'sent' || (message.session_id !== null && message.session_id !== draft.record.sessionId)) continue
    if (path && message.agent_text && draft.agent.heard(path, message.agent_text)) deliver(draft, message)
    else draft.parts.store.putMessage({ ...message, status: 'queued', sent_at: null, via: null, repeated: true })
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
export function markGiven(draft: Draft, messages: readonly Message[], event: string): void {
  const carries = draft.agent.carries(event)
  for (const message of messages) {
    const told: Message =
      carries.user && message.user_text && message.user_told_at === null ? { ...message, user_told_at: draft.at } : message
    if (message.agent_text === null) {
      if (told !== message || message.user_text === null) deliver(draft, { ...told, sent_at: draft.at, via: event })
    } else if (carries.agent) {
      draft.parts.store.putMessage({ ...told, status: 'sent', sent_at: draft.at, via: event })
    } else if (told !== message) {
      draft.parts.store.putMessage(told)
    }
  }
}

/**
 * Takes what waits into the answer to this signal; when nobody waits for an answer, leaves it for the next hook.
 * A subagent's events carry nothing: it is not the seat.
 */
export function give(draft: Draft, how: Delivery): string {
  const { parts, agent, record, signal } = draft
  const open = (): Message[] => waiting(parts.store.openMessages(record.seatId), record.sessionId)
  if (how === 'keep' || signal.subagent || open().length === 0) return ''
  if (
    how === 'outbox' &&
    parts.outbox.holds(
      record.sessionId,
      open().map((message) => message.message_id),
    )
  )
    return ''
  const inFlight = takeBack(draft)
  const messages = open().filter((message) => !inFlight.includes(message.message_id))
  if (messages.length === 0) return ''
  if (how === 'outbox') return lay(draft, messages)
  const carries = agent.carries(signal.event)
  const say = sayOf(messages)
  const answer = agent.answer(signal.event, { agent: carries.agent ? say.agent : null, user: carries.user ? say.user : null })
  markGiven(draft, messages, signal.event)
  return answer
}

/** What lies for the next hook is taken back; what hooks gave meanwhile is noted. Returns the ids still in a hook's hands. */
function takeBack(draft: Draft): string[] {
  const { parts, record } = draft
  const { given, inFlight } = parts.outbox.collect(record.sessionId)
  for (const { event, ids } of given) {
    const open = waiting(parts.store.openMessages(record.seatId), record.sessionId)
    markGiven(
      draft,
      open.filter((message) => ids.includes(message.message_id)),
      event,
    )
  }
  return inFlight
}

function lay(draft: Draft, messages: readonly Message[]): '' {
  const { parts, agent, record } = draft
  const ids = messages.map((message) => message.message_id)
  const answers = Object.fromEntries(agent.carriers.map((event) => [event, agent.answer(event, sayOf(messages))]))
  parts.outbox.lay(record.sessionId, ids, answers)
  return ''
}
