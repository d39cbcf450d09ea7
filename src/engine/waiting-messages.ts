import type { Agent } from '../agents/agent.js'
import type { Message } from '../contract/message.js'

const REPEATED = '[baton] (repeated: the client stopped before this could be confirmed)'

/** What every client takes whole; the rest waits for the next answer. */
export const LONGEST = 9_000

/** What waits for this session and fits into the answer to this event. Nothing is marked. */
export function waiting(messages: readonly Message[], sessionId: string): Message[] {
  return messages.filter((m) => m.status === 'queued' && (m.session_id === null || m.session_id === sessionId))
}

/**
 * Worth a turn of its own: somebody speaks to the seat, or wants a brief of the session now. What else Baton says of a session rides along
 * with what happens anyway.
 */
export function calls(message: Message): boolean {
  if (message.agent_text === null) return false
  return message.session_id === null || (message.category === 'handoff' && message.mode === 'urgent')
}

/** What Baton says of these is its own and holds figures; in all else stand words of a conversation, or of a person. */
const FIGURES = new Set(['context', 'compaction', 'silence'])

/** Whether anybody on this machine may hear it. */
export function isFigures({ sender, category }: Message): boolean {
  return sender === 'baton' && FIGURES.has(category)
}

/** Whether this event is the moment for it: what others send as `sequential` does not come between two steps of a turn. */
export function rides(agent: Pick<Agent, 'carriers' | 'turnEnds'>, message: Message, event: string): boolean {
  if (message.sender === 'baton' || message.mode !== 'sequential') return true
  return agent.turnEnds.includes(event) || agent.carriers.slice(1).includes(event)
}

/** What a conversation holds if it holds this message and no other: two people may write the same words. Printed by no command. */
export function signOf(message: Message): string {
  return message.sender === 'baton' ? (message.agent_text ?? '') : `(message ${message.message_id})`
}

export function sayOf(messages: readonly Message[]): { agent: string | null; user: string | null } {
  const agent = messages.flatMap((m) => (m.agent_text ? [textOf(m, m.agent_text)] : []))
  const user = messages.flatMap((m) => (m.user_text && m.user_told_at === null ? [m.user_text] : []))
  return { agent: agent.length > 0 ? agent.join('\n\n') : null, user: user.length > 0 ? user.join('\n') : null }
}

function textOf(message: Message, text: string): string {
  const signed = message.sender === 'baton' ? text : `${text}\n${signOf(message)}`
  return message.repeated ? `${REPEATED}\n${signed}` : signed
}

/** The first of them, as many as one answer holds, and one at least. */
export function fitting(messages: readonly Message[]): Message[] {
  let length = 0
  const end = messages.findIndex((message, index) => {
    const sign = message.sender === 'baton' ? 0 : signOf(message).length
    length += (message.agent_text ?? '').length + sign + REPEATED.length
    return index > 0 && length > LONGEST
  })
  return messages.slice(0, end < 0 ? messages.length : end)
}

/**
 * Without those a hook has in its hands, and without what the same sender sent in the same mode behind one of them, or behind one of
 * `unsettled`.
 */
export function inLine(messages: readonly Message[], inFlight: readonly string[], unsettled: readonly Message[] = []): Message[] {
  const lineOf = (message: Message): string => `${message.mode} ${message.sender}`
  const stopped = new Set(unsettled.map(lineOf))
  return messages.filter((message) => {
    if (!inFlight.includes(message.message_id)) return message.sender === 'baton' || !stopped.has(lineOf(message))
    stopped.add(lineOf(message))
    return false
  })
}
