import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { SignalContext } from '../context.js'
import { queueMessage } from '../messages/messages.js'
import { applyEvent } from './handoff-transitions.js'
import { cancelHandoffMessages, openHandoff, withdrawClearOrder } from './handoffs.js'
import { STARTED_BY_USER } from './leave-session.js'
import { isReviewOver } from './review.js'
import { handoffsWaitingHere, isTooOldToUse } from './waiting-briefs.js'

/**
 * Tells the user how to use briefs that are too old, or several of them.
 * No brief is added by itself.
 */
export function explainOldBriefs(context: SignalContext): void {
  const { deps, signal, record, at } = context
  const inSeat = deps.store.openHandoffs({ seatId: record.seatId }).filter((handoff) => isAbandoned(context, handoff))
  const here = handoffsWaitingHere(deps.store, signal, at)
  const known = new Map([...here, ...inSeat].map((handoff) => [handoff.handoffId, handoff]))
  if (record.attended !== true || record.jobId !== null) return
  for (const handoff of known.values()) if (isTooOldToUse(handoff, at)) offerExpired(context, handoff)
  const several = here.filter((handoff) => handoff.briefId !== null && !isTooOldToUse(handoff, at))
  if (several.length > 1 && inSeat.length === 0) offerEach(context, several)
}

const MOST_NAMED = 5

/** Offers several briefs, because nothing tells which of them is meant. */
function offerEach(context: SignalContext, waiting: readonly HandoffRecord[]): void {
  const named = waiting
    .slice(-MOST_NAMED)
    .map(({ briefId, sessionId }) => `${briefId} of session ${sessionId.slice(0, 8)}`)
  queueForUser(
    context,
    `[baton] ${waiting.length} briefs wait in this folder: ${named.join(', ')} · continue: baton handoffs use <brief>`,
  )
}

/** True for a handoff of the seat (terminal or job) from which no session is about to start. */
function isAbandoned(context: SignalContext, handoff: HandoffRecord): boolean {
  const { state, newSessionId } = handoff
  if (newSessionId !== null) return context.deps.store.session(newSessionId)?.state === 'ended'
  return state === 'waiting' || state === 'clearing' || isReviewOver(context, handoff)
}

const TOO_OLD = 'no session used it within 12 hours'

/** Ends the handoff of an old brief, so that any session may use the brief. */
function offerExpired(context: SignalContext, handoff: HandoffRecord): void {
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  const expired = applyEvent(context, handoff, 'brief-expired', { trouble: TOO_OLD })
  if (expired === null || brief === null) return
  const { briefId } = brief
  const since = `${brief.takenAt.slice(0, 16).replace('T', ' ')} UTC`
  queueForUser(
    context,
    [
      `[baton] A brief of session ${handoff.sessionId.slice(0, 8)} has waited here since ${since}`,
      `continue from it: baton handoffs use ${briefId}`,
      `read it: baton handoffs show ${briefId}`,
    ].join(' · '),
  )
}

/**
 * Tells the user of a resumed session how to begin a fresh one with the ready brief.
 * By resuming, the user has shown that they want this conversation.
 */
export function explainBriefAtResume(context: SignalContext): void {
  const { record } = context
  const handoff = openHandoff(context)
  if (
    handoff === null ||
    handoff.briefId === null ||
    handoff.sessionId !== record.sessionId ||
    handoff.newSessionId !== null
  )
    return
  // An open review continues.
  if (handoff.state === 'review' && !isReviewOver(context, handoff)) return
  withdrawClearOrder(context, handoff)
  cancelHandoffMessages(context, 'the session was resumed')
  applyEvent(context, handoff, 'session-resumed', { ...STARTED_BY_USER, offered: true })
  const { briefId } = handoff
  queueForUser(
    context,
    [
      `[baton] This session has a brief for a fresh session (${briefId})`,
      'start from it: /clear',
      'new brief: /handoff',
      `drop it: baton handoffs cancel ${briefId}`,
    ].join(' · '),
  )
}

function queueForUser(context: SignalContext, text: string): void {
  const { seatId, sessionId } = context.record
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId, sessionId },
  )
}
