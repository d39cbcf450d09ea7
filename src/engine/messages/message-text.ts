import type { Message } from '../../contract/records/message.js'

export const REPEATED_MARK = '[baton] (repeated: the client stopped before it confirmed this message)'

/**
 * Returns the text that identifies this message in a conversation. No command prints it.
 * A message from another sender is identified by its id: two senders may write the same words.
 */
export function messageMark(message: Message): string {
  return message.sender === 'baton' ? (message.agent_text ?? '') : `(message ${message.message_id})`
}

export function textsOf(messages: readonly Message[]): { agent: string | null; user: string | null } {
  const agent = messages.flatMap((m) => (m.agent_text ? [textOf(m, m.agent_text)] : []))
  const user = messages.flatMap((m) => (m.user_text && m.user_told_at === null ? [m.user_text] : []))
  return { agent: agent.length > 0 ? agent.join('\n\n') : null, user: user.length > 0 ? user.join('\n') : null }
}

function textOf(message: Message, text: string): string {
  const signed = message.sender === 'baton' ? text : `${text}\n${messageMark(message)}`
  return message.repeated ? `${REPEATED_MARK}\n${signed}` : signed
}
