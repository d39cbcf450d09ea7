import type { MessageShown } from '../contract/api/sessions.js'
import type { Message } from '../contract/message.js'

/** A message as routes show it. */
export function viewMessage(message: Message): MessageShown {
  return {
    message_id: message.message_id,
    seat_id: message.seat_id,
    session_id: message.session_id,
    sender: message.sender,
    category: message.category,
    mode: message.mode,
    text: wordsOf(message),
    status: message.status,
    queued_at: message.queued_at,
    delivered_at: message.delivered_at,
    via: message.via,
    repeated: message.repeated,
  }
}

/** What somebody said, without what stands around it for the agent. */
export function wordsOf(message: Message): string {
  const text = (message.user_text ?? message.agent_text ?? '').replace(/^\[baton\] /, '')
  const from = `Message from ${message.sender}: `
  return text.startsWith(from) ? text.slice(from.length) : text
}
