import type { BriefRecord } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { reviewText } from '../handoff/review-text.js'
import type { LeaveDesk } from './desk.js'
import type { Desk } from './draft.js'
import { cancelHandoff, hush, moveHandoff } from './handoffs.js'
import { leaveSession, leaveWhenIdle } from './leave-session.js'
import { queue } from './messages.js'

/**
 * A person may look at a brief before it is used (`handoff.review_seconds`). The window opens when the brief is ready and closes by itself:
 * whoever looks first after that, a process that waits for it (`hand-driver.ts`), a signal, a command or the server, goes on with the
 * handoff. What a person wrote or edited into its place needs no second look.
 */

/** While somebody has the text open in an editor: their time to think, and an end to it if they never come back. */
const EDITING_MS = 60 * 60_000

/** The brief is ready: a person looks at it first, where the configuration says so; else the session is left. */
export function reviewOrLeave(desk: LeaveDesk, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!beginReview(desk, handoff, brief)) leaveSession(desk, handoff)
}

/** False: nobody wants to look at it. */
export function beginReview(desk: LeaveDesk, handoff: HandoffRecord, brief: BriefRecord): boolean {
  const { parts, record, policy } = desk
  if (policy.handoff.reviewSeconds === 0 || brief.author === 'user') return false
  const { dueAt } = moveHandoff(desk, handoff, 'review', { dueAt: windowEnd(desk), way: null, orderId: null, driver: null })
  parts.store.putBrief({ ...brief, status: 'review' })
  const text = reviewText({ briefId: brief.briefId, path: brief.path, dueAt })
  queue(
    desk,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    // Of one that has ended the person hears where they sit next.
    { seatId: record.seatId, sessionId: record.state === 'ended' ? null : record.sessionId },
  )
  if (dueAt !== null) parts.store.afterCommit(() => parts.leaveWork('handoff'))
  return true
}

/** The time to object is over. */
export function endReview(desk: LeaveDesk, handoff: HandoffRecord): void {
  const brief = handoff.briefId === null ? null : desk.parts.store.brief(handoff.briefId)
  if (!desk.enabled) {
    cancelHandoff(desk, handoff, 'Baton was switched off')
    return
  }
  if (brief) desk.parts.store.putBrief({ ...brief, status: 'checked' })
  useReviewed(desk, handoff)
}

/** Nobody objects. */
export function useReviewed(desk: LeaveDesk, handoff: HandoffRecord): HandoffRecord {
  hush(desk, 'the review is over')
  return leaveWhenIdle(desk, handoff)
}

export function isReviewOver({ at }: Pick<Desk, 'at'>, { state, dueAt }: HandoffRecord): boolean {
  return state === 'review' && dueAt !== null && dueAt <= at
}

/** The window is open for as long as somebody may take to edit the text. */
export function holdReview(desk: Desk, handoff: HandoffRecord): void {
  if (handoff.state === 'review' && handoff.dueAt !== null)
    desk.parts.store.putHandoff({ ...handoff, dueAt: later(desk, EDITING_MS) })
}

/** When a window that is opened anew closes; one the configuration no longer asks for closes as it would have. */
export function renewedEnd(desk: LeaveDesk, { dueAt }: HandoffRecord): string | null {
  return desk.policy.handoff.reviewSeconds === 0 ? dueAt : windowEnd(desk)
}

function windowEnd(desk: LeaveDesk): string | null {
  const { reviewSeconds } = desk.policy.handoff
  return reviewSeconds === 'approval' ? null : later(desk, reviewSeconds * 1000)
}

const later = ({ at }: Pick<Desk, 'at'>, ms: number): string => new Date(Date.parse(at) + ms).toISOString()
