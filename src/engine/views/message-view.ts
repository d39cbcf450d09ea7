import type { MessageView } from '../../contract/api/messages.js'
import type { Message } from '../../contract/records/message.js'
import { sanitizeName } from '../../lib/quote.js'
import type { EngineDependencies } from '../context.js'
import { messageContext, workingSession } from '../messages/deliver-to-seat.js'
import { pickMessages } from '../messages/pick-messages.js'
import { reasonToHold } from '../messages/ready-messages.js'
import { canWakeSession, isIdle } from '../messages/wake-idle-session.js'

/** Returns messages as routes show them. */
export function viewMessages(deps: EngineDependencies, messages: readonly Message[]): MessageView[] {
  const reasons = waitReasons(deps, messages)
  return messages.map((message) => ({
    message_id: message.message_id,
    seat_id: message.seat_id,
    session_id: message.session_id,
    sender: message.sender,
    category: message.category,
    mode: message.mode,
    text: senderText(message),
    status: message.status,
    reason: reasons.get(message.message_id) ?? null,
    queued_at: message.queued_at,
    delivered_at: message.delivered_at,
    via: message.via,
    repeated: message.repeated,
  }))
}

export function viewMessage(deps: EngineDependencies, message: Message): MessageView {
  return viewMessages(deps, [message])[0]!
}

/**
 * Returns by id why messages have not reached the agent yet.
 * Delivered and cancelled messages are left out. Reads the store once per seat, not per message.
 */
export function waitReasons(deps: EngineDependencies, messages: readonly Message[]): Map<string, string> {
  const bySeat = new Map<string, (message: Message) => string>()
  const reasons = new Map<string, string>()
  for (const message of messages) {
    const { message_id: id, seat_id: seat, status } = message
    if (status === 'sent')
      reasons.set(
        id,
        message.order_id ? 'given as a prompt once the client is idle' : 'given to the client, not confirmed yet',
      )
    if (status !== 'queued') continue
    const reasonOf = bySeat.get(seat) ?? queuedReasons(deps, seat)
    bySeat.set(seat, reasonOf)
    reasons.set(id, reasonOf(message))
  }
  return reasons
}

/** Returns a function that tells why a queued message to a seat (terminal or job) waits. */
function queuedReasons(deps: EngineDependencies, seatId: string): (message: Message) => string {
  const record = workingSession(deps, seatId)
  if (record === null) return () => 'its seat has no running session'
  if (record.jobId !== null) {
    const isOver = (deps.store.job(record.jobId)?.endedAt ?? null) !== null
    return () => (isOver ? 'its job has ended, so nobody reads it' : 'the job delivers it with the next step')
  }
  const context = messageContext(deps, record)
  if (context === null) return () => 'its agent is not known to this version of Baton'
  if (record.process !== null && !context.agent.alive(record.process)) return () => 'its session is not running'
  const startsTurn = isIdle(context)
  const carrier = startsTurn ? null : { event: context.agent.carriers[0]!, agent: context.agent }
  const { waiting } = pickMessages(deps.store.openMessages(seatId), {
    sessionId: record.sessionId,
    held: reasonToHold(context, null),
    inFlight: [],
    unsettled: [],
    startsTurn,
    carrier,
  })
  const found = new Map(waiting.map(({ message, reason }) => [message.message_id, reason]))
  const picked = !startsTurn
    ? 'delivered at the next tool boundary'
    : canWakeSession(context)
      ? 'delivered as a prompt in a moment'
      : 'delivered with the next event of the session'
  return ({ message_id: id }) => found.get(id) ?? picked
}

/** Returns the sender's own text without what Baton adds for the agent. */
export function senderText(message: Message): string {
  const text = (message.user_text ?? message.agent_text ?? '').replace(/^\[baton\] /, '')
  const from = `Message from ${sanitizeName(message.sender)}: `
  return text.startsWith(from) ? text.slice(from.length) : text
}
