import { clockTime, HINDRANCE_END_EVENTS, reviewText, STATE_TEXTS } from '../../briefs/review-text.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { reviewNotice } from '../../policy/notice-text.js'
import type { SessionContext, SignalContext } from '../context.js'
import { queueMessage } from '../messages/messages.js'
import { notifyUser } from '../messages/notify-user.js'
import type { PolicyContext } from '../session-context.js'
import { applyEvent, cancelHandoff, updateHandoff } from './handoff-transitions.js'
import { cancelHandoffMessages, openHandoff, withdrawClearOrder } from './handoffs.js'
import { leaveSession, leaveWhenIdle } from './leave-session.js'
import { hindranceOf } from './missed-orders.js'

/**
 * Review of a brief by the user before it is used (`handoff.review_seconds`).
 * The review opens when the brief is ready and closes by itself.
 * After the review's end, the first process that checks continues the handoff.
 * Background processes, signals, commands and the server check (`workers/typist.ts`).
 * A brief that the user wrote or edited needs no review.
 */

/**
 * Milliseconds a review stays open while the user edits the text, in case the user never returns.
 */
const EDITING_MS = 60 * 60_000

/** Opens the configured review of a ready brief. Without one, clears the session. */
export function startReviewOrLeave(context: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!beginReview(context, handoff, brief)) leaveSession(context, handoff)
}

/** Opens a review. False when none is configured. */
export function beginReview(context: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): boolean {
  const { deps, record, policy } = context
  if (policy.handoff.reviewSeconds === 0 || brief.author === 'user') return false
  const dueAt = windowEnd(context)
  const change = { dueAt, way: null, orderId: null, driver: null }
  // A refused event leaves the brief unreviewed, so it must not be used.
  if (applyEvent(context, handoff, 'review-opened', change) === null) return true
  const text = reviewText({ briefId: brief.briefId, path: brief.path, dueAt })
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    // For an ended session, the user is told in the next session of the seat.
    { seatId: record.seatId, sessionId: record.state === 'ended' ? null : record.sessionId },
  )
  notifyUser(context, [reviewNotice(handoff.handoffId, brief.briefId, dueAt)])
  if (dueAt !== null) deps.store.afterCommit(() => deps.leaveWork('handoff'))
  return true
}

/** Ends the review when the time to object is over. */
export function endReview(context: PolicyContext, handoff: HandoffRecord): void {
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (!context.enabled) {
    cancelHandoff(context, handoff, 'Baton was switched off')
    return
  }
  if (brief) context.deps.store.putBrief({ ...brief, status: 'checked' })
  continueApproved(context, handoff)
}

/** Continues the handoff with an approved brief. */
export function continueApproved(context: PolicyContext, handoff: HandoffRecord): HandoffRecord {
  cancelHandoffMessages(context, 'the review is over')
  return leaveWhenIdle(context, handoff)
}

export function isReviewOver({ at }: Pick<SessionContext, 'at'>, { state, dueAt }: HandoffRecord): boolean {
  return state === 'review' && dueAt !== null && dueAt <= at
}

/** Keeps the review open while the user edits the text. */
export function extendReview(context: SessionContext, handoff: HandoffRecord): void {
  if (handoff.state === 'review' && handoff.dueAt !== null)
    updateHandoff(context, handoff, { dueAt: later(context, EDITING_MS) })
}

/** Returns the end of a reopened review. Without a configured review, the old end stays. */
export function reopenedReviewEnd(context: PolicyContext, { dueAt }: HandoffRecord): string | null {
  return context.policy.handoff.reviewSeconds === 0 ? dueAt : windowEnd(context)
}

function windowEnd(context: PolicyContext): string | null {
  const { reviewSeconds } = context.policy.handoff
  return reviewSeconds === 'approval' ? null : later(context, reviewSeconds * 1000)
}

const later = ({ at }: Pick<SessionContext, 'at'>, ms: number): string => new Date(Date.parse(at) + ms).toISOString()

/**
 * Runs the user's `/handoff status`, `approve` or `cancel` and returns the reply for the user.
 * Call it inside a transaction.
 */
export function answerCommand(context: SignalContext, command: 'status' | 'approve' | 'cancel'): string {
  const { record, deps } = context
  const id = record.sessionId.slice(0, 8)
  if (!context.enabled) return `[baton] Baton is off for this session · turn it on: baton on ${id}`
  const open = openHandoff(context)
  if (open === null) return '[baton] No handoff is in progress · start one: /handoff'
  if (command === 'status')
    return `[baton] Handoff ${open.number}: ${stateText(context, open)} · stop it: /handoff cancel`
  if (command === 'approve') {
    const brief = open.briefId === null ? null : deps.store.brief(open.briefId)
    if (open.state !== 'review' || brief === null)
      return `[baton] No brief waits for a review. Handoff ${open.number}: ${stateText(context, open)}`
    deps.store.putBrief({ ...brief, status: 'approved' })
    const handoff = continueApproved(context, open)
    return `[baton] ${brief.briefId} is approved: ${stateText(context, handoff)}`
  }
  const isBegun = open.newSessionId !== null || (open.state === 'clearing' && !withdrawClearOrder(context, open))
  if (isBegun) return '[baton] Too late to cancel: the fresh session has started or starts now.'
  cancelHandoff(context, open, 'the user cancelled it')
  return '[baton] The handoff is cancelled. This session continues.'
}

function stateText({ deps }: SignalContext, handoff: HandoffRecord): string {
  const hindered = HINDRANCE_END_EVENTS[hindranceOf(deps, handoff) ?? '']
  if (hindered !== undefined) return `the brief is ready; the session is cleared when ${hindered}`
  if (handoff.state !== 'review') return STATE_TEXTS[handoff.state]
  if (handoff.dueAt === null) return 'the brief waits for your approval: /handoff approve'
  return `a fresh session starts from the brief at ${clockTime(handoff.dueAt)} · start now: /handoff approve`
}
