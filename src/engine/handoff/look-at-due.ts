import type { HandoffRecord } from '../../contract/records/handoff.js'
import { scaleTimeout } from '../../lib/patience.js'
import type { PolicyContext } from '../session-context.js'
import { cancelHandoff, failHandoff, stopHandoff, updateHandoff } from './handoff-transitions.js'
import { withdraw } from './handoffs.js'
import { isThere, LOOK_MS, leaveWhenIdle, offerInstead, orderAgain, waitForNextStart } from './leave-session.js'
import { isOverlooked, NOTICE_MS, ORDER_MS, SETTLE_MS } from './missed-orders.js'
import { endReview } from './review.js'

/** The moment at which somebody had to look at it has come, and no signal did. */
export function lookAtDue(context: PolicyContext, handoff: HandoffRecord): void {
  if (handoff.state === 'review') {
    endReview(context, handoff)
    return
  }
  if (handoff.state === 'checked') {
    if (context.enabled) leaveWhenIdle(context, handoff)
    else cancelHandoff(context, handoff, 'Baton was switched off')
    return
  }
  if (handoff.state === 'confirmed') {
    // The fresh session has the brief; it was only not told to begin. The person's next prompt does that.
    updateHandoff(context, handoff, { dueAt: null })
    return
  }
  if (handoff.state === 'clearing' && handoff.way === 'tmux') {
    // A driver gives up by itself; if there is none, `lookAtHandoffs` starts one.
    updateHandoff(context, handoff, { dueAt: new Date(Date.parse(context.at) + LOOK_MS).toISOString() })
    return
  }
  lookAtOrder(context, handoff)
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
export function lookAtOrder(context: PolicyContext, handoff: HandoffRecord): void {
  const { deps, agent } = context
  const { sessionId, orderId } = handoff
  if (!isOrdered(handoff) || orderId === null) return
  const isDue = handoff.dueAt !== null && handoff.dueAt <= context.at
  // The order before the answer: an order that is gone and has none was never begun.
  const isThereStill = agent.hasOrder?.(deps.liveDir, sessionId, orderId) ?? true
  const answer = agent.orderAnswer?.(deps.liveDir, sessionId, orderId) ?? null
  if (isThereStill && wasToBeNoticed(context, handoff) && isOverlooked(agent, deps.liveDir, sessionId, orderId))
    agent.giveUpOn?.(deps.liveDir, sessionId)
  if (answer !== null && answer.state !== 'refused') {
    // The client died while it cleared: nobody has the brief.
    if (isDue && !isThere(context)) waitForNextStart(context, handoff)
    else if (isDue) failHandoff(context, handoff, 'the client began to clear the session and no fresh one was seen')
  } else if (!context.enabled) stopHandoff(context, 'Baton was switched off')
  else if (answer !== null) handleRefusal(context, handoff, answer.reason ?? '', isDue)
  else if (hasLostMod(context) && withdraw(context, handoff)) offerInstead(context, handoff, 'mod')
  else if (!isThereStill || (isDue && isAtWork(context))) orderAgain(context, handoff, 'same')
  else if (isDue && withdraw(context, handoff)) offerInstead(context, handoff, 'mod')
}

function wasToBeNoticed({ at }: PolicyContext, { dueAt }: HandoffRecord): boolean {
  return dueAt !== null && Date.parse(at) >= Date.parse(dueAt) - ORDER_MS - SETTLE_MS + scaleTimeout(NOTICE_MS)
}

/** What takes orders inside the client was taken away while the client runs on. */
function hasLostMod(context: PolicyContext): boolean {
  const { agent, deps, record } = context
  return agent.hasLostMod?.(deps.liveDir, record.sessionId) === true && isThere(context)
}

/** An order to the part of Baton inside the client is under way. */
export function isOrdered({ state, way }: HandoffRecord): boolean {
  return state === 'clearing' && way === 'mod'
}

/** What keeps the client from being cleared now and not for ever. `late`: it was found after its time. `withdrawn`: it was taken away, and is still wanted. */
const PASSING = new Set(['turn', 'dialog', 'draft', 'background', 'subagent', 'late', 'withdrawn'])

function handleRefusal(context: PolicyContext, handoff: HandoffRecord, reason: string, isDue: boolean): void {
  if (PASSING.has(reason) && isThere(context)) orderAgain(context, handoff, 'another')
  // The session is gone, and the client's own event may be on its way.
  else if (isDue || !reason.startsWith('failed after')) offerInstead(context, handoff, 'mod')
}

/** A turn may take longer than an order waits for its end. */
function isAtWork(context: PolicyContext): boolean {
  return ['working', 'waiting', 'compacting'].includes(context.record.state) && isThere(context) && context.takesOrders
}
