import type { HandoffRecord } from '../../contract/records/handoff.js'
import { scaleTimeout } from '../../lib/patience.js'
import type { PolicyContext } from '../session-context.js'
import { cancelHandoff, failHandoff, stopHandoff, updateHandoff } from './handoff-transitions.js'
import { withdrawClearOrder } from './handoffs.js'
import {
  DRIVER_CHECK_MS,
  isClientRunning,
  leaveWhenIdle,
  repeatOrder,
  tryNextWay,
  waitForNextStart,
} from './leave-session.js'
import { isOrderUnnoticed, ORDER_LIFETIME_MS, ORDER_NOTICE_MS, ORDER_RESULT_MS } from './missed-orders.js'
import { endReview } from './review.js'

/** Handles a handoff whose deadline passed without a signal. */
export function handleDueHandoff(context: PolicyContext, handoff: HandoffRecord): void {
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
    // The fresh session has the brief but was not prompted. The user's next prompt begins the work.
    updateHandoff(context, handoff, { dueAt: null })
    return
  }
  if (handoff.state === 'clearing' && handoff.way === 'tmux') {
    // A running typing process gives up by itself. If there is none, `checkDueHandoffs` starts one.
    updateHandoff(context, handoff, { dueAt: new Date(Date.parse(context.at) + DRIVER_CHECK_MS).toISOString() })
    return
  }
  checkOrder(context, handoff)
}

/**
 * Handles the state of an order (to clear the session) for the plugin module inside the client:
 *
 * refused for now           the order is given again with another id
 * refused for good          the next way is tried
 * begun                     the order's event from the client follows
 * begun, event overdue      the handoff fails; without a client, it waits for the next start
 * no answer and no order    the order's giver was killed before, so the order is given now
 * the module is gone        the next way is tried
 * not noticed in seconds    the module counts as gone, and the next way is tried
 * not begun in time         the next way is tried; while the session works it gets more time
 */
export function checkOrder(context: PolicyContext, handoff: HandoffRecord): void {
  const { deps, agent } = context
  const { sessionId, orderId } = handoff
  if (!hasOpenClearOrder(handoff) || orderId === null) return
  const isDue = handoff.dueAt !== null && handoff.dueAt <= context.at
  // The order is read before its answer. A missing order without an answer was never begun.
  const isThereStill = agent.hasOrder?.(deps.liveDir, sessionId, orderId) ?? true
  const answer = agent.orderAnswer?.(deps.liveDir, sessionId, orderId) ?? null
  if (isThereStill && isNoticeOverdue(context, handoff) && isOrderUnnoticed(agent, deps.liveDir, sessionId, orderId))
    agent.giveUpOn?.(deps.liveDir, sessionId)
  if (answer !== null && answer.state !== 'refused') {
    // The client died while it cleared, so no session has the brief.
    if (isDue && !isClientRunning(context)) waitForNextStart(context, handoff)
    else if (isDue) failHandoff(context, handoff, 'the client began to clear the session and no fresh one was seen')
  } else if (!context.enabled) stopHandoff(context, 'Baton was switched off')
  else if (answer !== null) handleRefusal(context, handoff, answer.reason ?? '', isDue)
  else if (hasLostMod(context) && withdrawClearOrder(context, handoff)) tryNextWay(context, handoff, 'mod')
  else if (!isThereStill || (isDue && isAtWork(context))) repeatOrder(context, handoff, 'same')
  else if (isDue && withdrawClearOrder(context, handoff)) tryNextWay(context, handoff, 'mod')
}

function isNoticeOverdue({ at }: PolicyContext, { dueAt }: HandoffRecord): boolean {
  return (
    dueAt !== null &&
    Date.parse(at) >= Date.parse(dueAt) - ORDER_LIFETIME_MS - ORDER_RESULT_MS + scaleTimeout(ORDER_NOTICE_MS)
  )
}

/** True when the plugin module was removed while its client keeps running. */
function hasLostMod(context: PolicyContext): boolean {
  const { agent, deps, record } = context
  return agent.hasLostMod?.(deps.liveDir, record.sessionId) === true && isClientRunning(context)
}

/** True while an order to the plugin module is open. */
export function hasOpenClearOrder({ state, way }: HandoffRecord): boolean {
  return state === 'clearing' && way === 'mod'
}

/**
 * Reasons that delay a clear but do not prevent it.
 * `late`: the order was found after its time. `withdrawn`: it was removed although still wanted.
 */
const TEMPORARY_REASONS = new Set(['turn', 'dialog', 'draft', 'background', 'subagent', 'late', 'withdrawn'])

function handleRefusal(context: PolicyContext, handoff: HandoffRecord, reason: string, isDue: boolean): void {
  if (TEMPORARY_REASONS.has(reason) && isClientRunning(context)) repeatOrder(context, handoff, 'another')
  // The session has ended, and the client's own event may be on its way.
  else if (isDue || !reason.startsWith('failed after')) tryNextWay(context, handoff, 'mod')
}

/** True while a turn runs, which may take longer than an order waits. */
function isAtWork(context: PolicyContext): boolean {
  return (
    ['working', 'waiting', 'compacting'].includes(context.record.state) &&
    isClientRunning(context) &&
    context.takesOrders
  )
}
