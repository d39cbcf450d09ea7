import type { HandoffRecord } from '../contract/handoff.js'
import type { LeaveDesk } from './desk.js'
import { failHandoff, withdraw } from './handoffs.js'
import { isThere, LOOK_MS, offerInstead, waitForNextStart } from './leave-session.js'
import { endReview } from './review.js'

/** The moment at which somebody had to look at it has come, and no signal did. */
export function lookAtDue(desk: LeaveDesk, handoff: HandoffRecord): void {
  const { parts, agent } = desk
  if (handoff.state === 'review') {
    endReview(desk, handoff)
    return
  }
  if (handoff.state === 'confirmed') {
    // The fresh session has the brief; it was only not told to begin. The person's next prompt does that.
    parts.store.putHandoff({ ...handoff, dueAt: null })
    return
  }
  if (handoff.state !== 'clearing' || handoff.orderId === null) return
  if (handoff.way === 'tmux') {
    // Whoever types gives up by itself; if nobody does, `look-at-handoffs.ts` has somebody begin.
    parts.store.putHandoff({ ...handoff, dueAt: new Date(Date.parse(desk.at) + LOOK_MS).toISOString() })
    return
  }
  const answer = agent.orderAnswer?.(parts.liveDir, handoff.sessionId, handoff.orderId) ?? null
  const begun = answer !== null && answer.state !== 'refused'
  const taken = begun || (answer === null && !withdraw(desk, handoff))
  // The client died while it cleared: nobody has the brief.
  if (taken && !isThere(desk)) waitForNextStart(desk, handoff)
  else if (taken) failHandoff(desk, handoff, 'the client began to clear the session and no fresh one was seen')
  else offerInstead(desk, handoff, 'mod')
}
