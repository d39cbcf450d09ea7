import type { Message } from '../contract/message.js'
import type { SessionRecord } from '../contract/record.js'
import type { SignalKind } from '../contract/signal.js'
import type { Desk, Parts } from './draft.js'
import { allowed, takeBack, toGive, toSay } from './ready-messages.js'
import { fitting, inLine, rides, sayOf } from './waiting-messages.js'
import { mayWake, sameProcess, settleLost, settleOrders, wake } from './wake.js'

/** What is sent to a seat goes on its way without waiting for the client: by an order, or into the outbox. */

/** In a transaction of its own, so that only what is kept for good is laid. */
export function lay(desk: Desk, kind: SignalKind | null): void {
  const { parts, agent, record } = desk
  const idsOf = (messages: readonly Message[]): string[] => messages.map((message) => message.message_id)
  // If the client stops now, what it was given may have to be given again, before what stands behind it.
  const unsettled = parts.store.openMessages(record.seatId).filter(({ status }) => status === 'sent')
  if (parts.outbox.holds(record.sessionId, idsOf(fitting(inLine(allowed(desk, kind), [], unsettled))))) return
  const messages = toGive(desk, kind, unsettled)
  const answers = agent.carriers.flatMap((event) => {
    const text = agent.answer(event, sayOf(messages.filter((message) => rides(agent, message, event))))
    return text === '' ? [] : [[event, text] as const]
  })
  if (answers.length > 0) parts.outbox.lay(record.sessionId, idsOf(messages), Object.fromEntries(answers))
}

/**
 * Brings what was sent to a seat on its way without waiting for its next event: by an order where it is idle and can be told so, else
 * to where its next hook finds it. In a transaction of its own.
 */
export function bring(parts: Parts, seatId: string): void {
  parts.store.transaction(() => {
    const desk = deskAt(parts, seatId)
    if (desk === null) return
    const { agent, record } = desk
    settleOrders(desk, null, true)
    if (record.process !== null && !agent.alive(record.process)) settleGone(desk)
    // One that was begun is shown any moment, and what comes behind it goes with that turn.
    const called = toSay(desk)
    if (called.length > 0 && mayWake(desk)) wake(desk, called)
    else {
      // The next signal says more precisely what is worth waiting for.
      parts.outbox.expect(record.sessionId, [...agent.carriers.slice(0, 1), ...agent.turnEnds])
      lay(desk, null)
    }
  })
}

/** What is queued is brought on its way, if it can be: if not, the seat's next event takes it along. */
export function bringSoon(parts: Parts, seatId: string): void {
  try {
    bring(parts, seatId)
  } catch (error) {
    parts.log('warn', 'a message could not be brought on its way', { seat: seatId, reason: String(error) })
  }
}

/** The client has gone, and its transcript says the last word about what it was given. */
function settleGone(desk: Desk): void {
  const { parts, record } = desk
  takeBack(desk, record.sessionId)
  const given = parts.store
    .openMessages(record.seatId)
    .filter(({ status, session_id }) => status === 'sent' && session_id === null)
  for (const message of given) if ((message.sent_to ?? record.sessionId) === record.sessionId) settleLost(desk, message)
}

/** The session that sits in a seat; null: none does. */
export function sitting({ store }: Pick<Parts, 'store'>, seatId: string): SessionRecord | null {
  const process = store.seat(seatId)?.process ?? null
  const there = store.chain(seatId).filter(({ state }) => state !== 'ended')
  const own = process === null ? undefined : there.findLast((record) => sameProcess(record.process, process))
  return own ?? there.at(-1) ?? null
}

/** A desk for whoever speaks to a seat without a signal; null: nobody sits there, or a job's runner speaks for it. */
export function deskAt(parts: Parts, seatId: string): Desk | null {
  const record = sitting(parts, seatId)
  return record === null || record.jobId !== null ? null : deskOf(parts, record)
}

/** null: nothing is known of its agent. */
export function deskOf(parts: Parts, record: SessionRecord): Desk | null {
  const agent = parts.agents[record.agent]
  return agent ? { parts, agent, record, at: parts.now().toISOString(), events: [] } : null
}
