import type { Mode } from '../contract/level.js'
import type { Message } from '../contract/message.js'
import { bringSoon, deskOf, sitting } from './bring-messages.js'
import type { Parts } from './draft.js'
import { newMessage } from './messages.js'
import { takeBack } from './ready-messages.js'
import { LONGEST } from './waiting-messages.js'
import { settleOrders } from './wake.js'

export interface Letter {
  seatId: string
  sender: string
  mode: Mode
  /** The words; with `file` their beginning. */
  text: string
  /** Where all of them lie, if they are too many for a client. */
  file: { path: string; characters: number } | null
}

/** The words that fit into one answer beside what is said around them. */
export const LONGEST_TEXT = LONGEST - 500

/** Queues what somebody says to a seat, whoever sits there, and brings it on its way. Returns it as it stands then. */
export function sendMessage(parts: Parts, letter: Letter): Message {
  const { store } = parts
  const at = parts.now().toISOString()
  const message = store.transaction(() => {
    const [last] = store.messages({ seatId: letter.seatId, limit: 1 })
    const content = {
      ...{ category: 'message', mode: letter.mode, sender: letter.sender },
      ...{ agent_text: agentText(letter), user_text: null, text_file: letter.file?.path ?? null },
    }
    const made = newMessage(parts, at, content, { seatId: letter.seatId, sessionId: null })
    // What is sent later stands later, also when a clock is coarse or was set back.
    const queued: Message = { ...made, queued_at: last && last.queued_at >= at ? after(last.queued_at) : at }
    store.putMessage(queued)
    addEvent(parts, queued, 'message_queued', at, { to: letter.seatId, category: queued.category, mode: queued.mode })
    return queued
  })
  bringSoon(parts, letter.seatId)
  return store.message(message.message_id) ?? message
}

const after = (iso: string): string => new Date(Date.parse(iso) + 1).toISOString()

/** What begins a line like Baton's own words, in a text somebody passed on, is a quotation. */
const OWN_WORDS = /(\r\n?|[\n\v\f\u0085\u2028\u2029])([^\S\r\n]*)(?=\[baton\])/gi

function agentText({ sender, text, file }: Letter): string {
  const says = `[baton] Message from ${sender}: ${text.replace(OWN_WORDS, '$1$2> ')}`
  return file === null
    ? says
    : `${says}…\n[baton] This is only the beginning. Read all ${file.characters} characters in ${file.path}`
}

/** Takes a message back that nobody was given yet. Returns it as it stands then: cancelled, or too late for that. */
export function cancelMessage(parts: Parts, messageId: string): Message | null {
  const { store } = parts
  return store.transaction(() => {
    const found = store.message(messageId)
    if (found === null || (found.status !== 'queued' && !found.order_id)) return found
    const inHands = takeBackFor(parts, found)
    const message = store.message(messageId)!
    if (message.status !== 'queued' || inHands) return message
    const cancelled: Message = { ...message, status: 'cancelled' }
    store.putMessage(cancelled)
    addEvent(parts, cancelled, 'message_cancelled', parts.now().toISOString(), { reason: 'somebody took it back' })
    // What lay beside it, or was ordered with it, still goes.
    store.afterCommit(() => bringSoon(parts, found.seat_id))
    return cancelled
  })
}

/** True: a hook is just giving it. */
function takeBackFor(parts: Parts, message: Message): boolean {
  const record = message.session_id === null ? sitting(parts, message.seat_id) : parts.store.session(message.session_id)
  const desk = record && deskOf(parts, record)
  if (desk === null) return false
  settleOrders(desk, null, true)
  return takeBack(desk, desk.record.sessionId).includes(message.message_id)
}

function addEvent(
  { store }: Parts,
  message: Message,
  type: 'message_queued' | 'message_cancelled',
  at: string,
  data: Record<string, unknown>,
): void {
  const session = sitting({ store }, message.seat_id)
  store.addEvent({
    type,
    at,
    session_id: session?.sessionId ?? null,
    seat_id: message.seat_id,
    job_id: session?.jobId ?? null,
    data: { message_id: message.message_id, ...data, sender: message.sender },
  })
}
