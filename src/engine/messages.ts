import type { Message } from '../contract/message.js'
import { type Draft, emit } from './draft.js'

/**
 * A message is queued, given to the client in an answer it waits for (sent), and delivered once the client's next event
 * shows that it went on from there. If the client died in between, it is queued again and marked as repeated, unless the
 * conversation on disk already holds it.
 */

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
  for (const message of draft.parts.store.openMessages(draft.record.seatId)) {
    if (message.status !== 'queued' || message.sender !== 'baton' || !categories.includes(message.category)) continue
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
    const told: Message = carries.user && message.user_text && message.user_told_at === null ? { ...message, user_told_at: draft.at } : message
    if (message.agent_text === null) {
      if (told !== message || message.user_text === null) deliver(draft, { ...told, sent_at: draft.at, via: event })
    } else if (carries.agent) {
      draft.parts.store.putMessage({ ...told, status: 'sent', sent_at: draft.at, via: event })
    } else if (told !== message) {
      draft.parts.store.putMessage(told)
    }
  }
}

/** Takes what waits into the answer to this signal. A subagent's events carry nothing: it is not the seat. */
export function claim(draft: Draft): string {
  if (draft.signal.subagent) return ''
  const carries = draft.agent.carries(draft.signal.event)
  if (!carries.agent && !carries.user) return ''
  const messages = waiting(draft.parts.store.openMessages(draft.record.seatId), draft.record.sessionId)
  if (messages.length === 0) return ''
  const say = sayOf(messages)
  const answer = draft.agent.answer(draft.signal.event, { agent: carries.agent ? say.agent : null, user: carries.user ? say.user : null })
  markGiven(draft, messages, draft.signal.event)
  return answer
}
