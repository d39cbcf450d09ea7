import type { HandoffRecord } from '../contract/handoff.js'
import type { LeaveDesk } from './desk.js'
import { cancelHandoff, failHandoff, stopHandoff, withdraw } from './handoffs.js'
import { isThere, LOOK_MS, leaveWhenIdle, offerInstead, orderAgain, waitForNextStart } from './leave-session.js'
import { isOverlooked, NOTICE_MS, ORDER_MS, SETTLE_MS } from './overlooked.js'
import { endReview } from './review.js'

/** The moment at which somebody had to look at it has come, and no signal did. */
export function lookAtDue(desk: LeaveDesk, handoff: HandoffRecord): void {
  const { parts } = desk
  if (handoff.state === 'review') {
    endReview(desk, handoff)
    return
  }
  if (handoff.state === 'checked') {
    if (desk.enabled) leaveWhenIdle(desk, handoff)
    else cancelHandoff(desk, handoff, 'Baton was switched off')
    return
  }
  if (handoff.state === 'confirmed') {
    // The fresh session has the brief; it was only not told to begin. The person's next prompt does that.
    parts.store.putHandoff({ ...handoff, dueAt: null })
    return
  }
  if (handoff.state === 'clearing' && handoff.way === 'tmux') {
    // Whoever types gives up by itself; if nobody does, `look-at-handoffs.ts` has somebody begin.
    parts.store.putHandoff({ ...handoff, dueAt: new Date(Date.parse(desk.at) + LOOK_MS).toISOString() })
    return
  }
  lookAtOrder(desk, handoff)
}

/**
 * What became of an order to the part of Baton inside the client:
 *
 *   refused: something hindered it   it is given again, under another name
 *   refused for good                 the next way
 *   begun                            the client's own event follows; if it has not when it is due, the handoff failed, or waits for
 *                                    the next start if the client is gone
 *   neither answer nor order         whoever was to give it was killed before: it is given now
 *   whoever takes it is gone         the next way; one that has not noticed it within seconds counts as gone
 *   not begun in its time            the next way; while the session works, more time
 */
export function lookAtOrder(desk: LeaveDesk, handoff: HandoffRecord): void {
  const { parts, agent } = desk
  const { sessionId, orderId } = handoff
  if (!isOrdered(handoff) || orderId === null) return
  const isDue = handoff.dueAt !== null && handoff.dueAt <= desk.at
  // The order before the answer: an order that is gone and has none was never begun.
  const isThereStill = agent.hasOrder?.(parts.liveDir, sessionId, orderId) ?? true
  const answer = agent.orderAnswer?.(parts.liveDir, sessionId, orderId) ?? null
  if (isThereStill && wasToBeNoticed(desk, handoff) && isOverlooked(agent, parts.liveDir, sessionId, orderId))
    agent.giveUpOn?.(parts.liveDir, sessionId)
  if (answer !== null && answer.state !== 'refused') {
    // The client died while it cleared: nobody has the brief.
    if (isDue && !isThere(desk)) waitForNextStart(desk, handoff)
    else if (isDue) failHandoff(desk, handoff, 'the client began to clear the session and no fresh one was seen')
  } else if (!desk.enabled) stopHandoff(desk, 'Baton was switched off')
  else if (answer !== null) goOnRefused(desk, handoff, answer.reason ?? '', isDue)
  else if (isAway(desk) && withdraw(desk, handoff)) offerInstead(desk, handoff, 'mod')
  else if (!isThereStill || (isDue && isAtWork(desk))) orderAgain(desk, handoff, 'same')
  else if (isDue && withdraw(desk, handoff)) offerInstead(desk, handoff, 'mod')
}

function wasToBeNoticed({ at }: LeaveDesk, { dueAt }: HandoffRecord): boolean {
  return dueAt !== null && Date.parse(at) >= Date.parse(dueAt) - ORDER_MS - SETTLE_MS + NOTICE_MS
}

/** What takes orders inside the client was taken away while the client runs on. */
function isAway(desk: LeaveDesk): boolean {
  const { agent, parts, record } = desk
  return agent.takesNoMore?.(parts.liveDir, record.sessionId) === true && isThere(desk)
}

/** An order to the part of Baton inside the client is under way. */
export function isOrdered({ state, way }: HandoffRecord): boolean {
  return state === 'clearing' && way === 'mod'
}

/** What keeps the client from being cleared now and not for ever. `late`: it was found after its time. `withdrawn`: it was taken away, and is still wanted. */
const PASSING = new Set(['turn', 'dialog', 'draft', 'background', 'subagent', 'late', 'withdrawn'])

function goOnRefused(desk: LeaveDesk, handoff: HandoffRecord, reason: string, isDue: boolean): void {
  if (PASSING.has(reason) && isThere(desk)) orderAgain(desk, handoff, 'another')
  // The session is gone, and the client's own event may be on its way.
  else if (isDue || !reason.startsWith('failed after')) offerInstead(desk, handoff, 'mod')
}

/** A turn may take longer than an order waits for its end. */
function isAtWork(desk: LeaveDesk): boolean {
  return ['working', 'waiting', 'compacting'].includes(desk.record.state) && isThere(desk) && desk.takesOrders
}
