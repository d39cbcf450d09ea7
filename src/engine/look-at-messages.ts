import type { Event } from '../contract/event.js'
import { bring, deskAt } from './bring-messages.js'
import type { Parts } from './draft.js'
import { calls } from './waiting-messages.js'
import { mayWake, ordered, settleOrders } from './wake.js'

/** Beyond these it is a matter for the seat's own events. */
const NEWEST = 200

/**
 * Messages to seats that are on their way without a signal: orders that were refused or came too late leave theirs queued, and an idle
 * session somebody could not tell before is told. For commands and the server, which come without a signal.
 */
export function lookAtMessages(parts: Parts): Event[] {
  const { store } = parts
  const open = store.messages({ limit: NEWEST }).filter((m) => calls(m) && (m.status === 'queued' || Boolean(m.order_id)))
  return [...new Set(open.map(({ seat_id }) => seat_id))].flatMap((seatId) => store.transaction(() => look(parts, seatId)))
}

function look(parts: Parts, seatId: string): Event[] {
  const desk = deskAt(parts, seatId)
  if (desk === null) return []
  const before = ordered(parts.store.openMessages(seatId))
  settleOrders(desk, null, false)
  const open = parts.store.openMessages(seatId)
  const waits = open.some((message) => message.status === 'queued' && calls(message))
  // What an order was for and did not become of it, the next hook has to find.
  if (waits && !ordered(open) && (before || mayWake(desk))) parts.store.afterCommit(() => bring(parts, seatId))
  return desk.events
}
