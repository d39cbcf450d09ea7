import type { SessionRecord } from '../contract/record.js'
import { bring, deskAt } from './bring-messages.js'
import type { Parts } from './draft.js'
import { toSay } from './ready-messages.js'
import { sayOf } from './waiting-messages.js'
import { markPrompted, mayWake, requeue, settleOrders } from './wake.js'

/** A prompt for the terminal of a session. */
export interface TypedPrompt {
  seatId: string
  orderId: string
  sessionId: string
  text: string
}

/** The idle session of a seat for which something waits and which nothing but its terminal can tell; null: there is none. */
export function typable(parts: Parts, seatId: string): SessionRecord | null {
  const desk = deskAt(parts, seatId)
  if (desk === null || desk.record.attended !== true || desk.record.state !== 'idle' || mayWake(desk)) return null
  const { process } = desk.record
  return process !== null && desk.agent.alive(process) ? desk.record : null
}

/** Stored before the first key; null: somebody else has told it meanwhile. */
export function beginTypingMessages(parts: Parts, seatId: string): TypedPrompt | null {
  return parts.store.transaction(() => {
    const desk = typable(parts, seatId) === null ? null : deskAt(parts, seatId)
    if (desk === null) return null
    settleOrders(desk, null, true)
    const messages = toSay(desk)
    const text = sayOf(messages).agent
    if (text === null) return null
    const orderId = `keys_${parts.newId()}`
    markPrompted(desk, messages, 'keys', orderId)
    return { seatId, orderId, sessionId: desk.record.sessionId, text }
  })
}

/** Nothing was sent and nothing of it stands there: it waits again. */
export function typedNothing(parts: Parts, { seatId, orderId }: TypedPrompt): void {
  parts.store.transaction(() => {
    const desk = deskAt(parts, seatId)
    if (desk === null) return
    for (const message of parts.store.openMessages(seatId)) if (message.order_id === orderId) requeue(desk, message, false)
    parts.store.afterCommit(() => bring(parts, seatId))
  })
}
