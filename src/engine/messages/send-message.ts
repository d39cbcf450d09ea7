import type { DeliveryMode } from '../../contract/level.js'
import type { Message } from '../../contract/records/message.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { sanitizeName, withoutOwnMark } from '../../lib/quote.js'
import type { EngineDependencies } from '../context.js'
import { messageContext, trySendToSeat, workingSession } from './deliver-to-seat.js'
import { newMessage } from './messages.js'
import { MAX_ANSWER_CHARACTERS } from './pick-messages.js'
import { withdrawAnswers } from './ready-messages.js'
import { settleOrders } from './wake-idle-session.js'

interface OutgoingMessage {
  seatId: string
  sender: string
  mode: DeliveryMode
  /** The text of the message, or its beginning when there is a `file`. */
  text: string
  /** File with the whole text, for a text that is too long for a client. */
  file: { path: string; characters: number } | null
}

/** Longest text of a message that fits into one answer together with Baton's own words. */
export const MAX_MESSAGE_CHARACTERS = MAX_ANSWER_CHARACTERS - 500

/** Queues a message to a seat (terminal or job) and sends it. Returns the message after that. */
export function sendMessage(deps: EngineDependencies, outgoing: OutgoingMessage): Message {
  const { store } = deps
  const at = deps.now().toISOString()
  const message = store.transaction(() => {
    const [last] = store.messages({ seatId: outgoing.seatId, limit: 1 })
    const content = {
      category: 'message',
      mode: outgoing.mode,
      sender: outgoing.sender,
      agent_text: agentText(outgoing),
      user_text: null,
      text_file: outgoing.file?.path ?? null,
    }
    const made = newMessage(deps, at, content, { seatId: outgoing.seatId, sessionId: null })
    // A later message sorts later, even when the clock is coarse or was set back.
    const queued: Message = { ...made, queued_at: last && last.queued_at >= at ? oneMsLater(last.queued_at) : at }
    store.putMessage(queued)
    addEvent(deps, queued, 'message_queued', at, { to: outgoing.seatId, category: queued.category, mode: queued.mode })
    return queued
  })
  trySendToSeat(deps, outgoing.seatId)
  return store.message(message.message_id) ?? message
}

const oneMsLater = (iso: string): string => new Date(Date.parse(iso) + 1).toISOString()

function agentText({ sender, text, file }: OutgoingMessage): string {
  const line = `[baton] Message from ${sanitizeName(sender)}: ${withoutOwnMark(text)}`
  return file === null
    ? line
    : `${line}…\n[baton] The message is cut here. Read all ${file.characters} characters in ${file.path}`
}

/**
 * Cancels a message that was not delivered. Returns the stored message: cancelled or already sent.
 */
export function cancelMessage(deps: EngineDependencies, messageId: string): Message | null {
  const { store } = deps
  return store.transaction(() => {
    const found = store.message(messageId)
    if (found === null || (found.status !== 'queued' && !found.order_id)) return found
    const isWithClient = withdrawMessage(deps, found)
    const message = store.message(messageId)!
    if (message.status !== 'queued' || isWithClient) return message
    const cancelled: Message = { ...message, status: 'cancelled' }
    store.putMessage(cancelled)
    addEvent(deps, cancelled, 'message_cancelled', deps.now().toISOString(), { reason: 'it was withdrawn' })
    // Other messages of the same answer or order must still be delivered.
    store.afterCommit(() => trySendToSeat(deps, found.seat_id))
    return cancelled
  })
}

/**
 * Cancels a message. Throws a BatonError when there is no such message or it was already delivered.
 */
export function cancelNamedMessage(deps: EngineDependencies, messageId: string): Message {
  const message = cancelMessage(deps, messageId)
  if (message === null)
    throw new BatonError(
      `There is no message "${messageId}".`,
      'baton messages --all --json lists them.',
      EXIT.notFound,
    )
  if (message.status === 'cancelled') return message
  throw new BatonError(
    message.status === 'queued'
      ? `${messageId} is being delivered now.`
      : `${messageId} cannot be withdrawn: it is ${message.status}.`,
    'Send another message that corrects it.',
    EXIT.refused,
  )
}

/**
 * Withdraws a message from outbox and orders. True when a hook is delivering the message right now.
 */
function withdrawMessage(deps: EngineDependencies, message: Message): boolean {
  const record =
    message.session_id === null ? workingSession(deps, message.seat_id) : deps.store.session(message.session_id)
  const context = record && messageContext(deps, record)
  if (context === null) return false
  settleOrders(context, null, true)
  return withdrawAnswers(context, context.record.sessionId).includes(message.message_id)
}

function addEvent(
  { store }: EngineDependencies,
  message: Message,
  type: 'message_queued' | 'message_cancelled',
  at: string,
  data: Record<string, unknown>,
): void {
  const session = workingSession({ store }, message.seat_id)
  store.addEvent({
    type,
    at,
    session_id: session?.sessionId ?? null,
    seat_id: message.seat_id,
    job_id: session?.jobId ?? null,
    data: { message_id: message.message_id, ...data, sender: message.sender },
  })
}
