import type { HandoffRecord } from '../contract/handoff.js'
import { type Draft, emit } from './draft.js'
import { fieldsOf, hush, moveHandoff, openHandoff, withdraw } from './handoffs.js'
import { queue } from './messages.js'
import { isReviewOver } from './review.js'
import { isOld, waitingHere } from './waiting-briefs.js'

/** Briefs that have waited too long for a start like this one, or are several: the person is told how to take one up, and nothing is injected. */
export function offerOld(draft: Draft): void {
  const { parts, signal, record, at } = draft
  const inSeat = parts.store.openHandoffs({ seatId: record.seatId }).filter((handoff) => isLeft(draft, handoff))
  const here = waitingHere(parts.store, signal, at)
  const known = new Map([...here, ...inSeat].map((handoff) => [handoff.handoffId, handoff]))
  if (record.attended !== true || record.jobId !== null) return
  for (const handoff of known.values()) if (isOld(handoff, at)) offer(draft, handoff)
  const several = here.filter((handoff) => handoff.briefId !== null && !isOld(handoff, at))
  if (several.length > 1 && inSeat.length === 0) offerEach(draft, several)
}

const MOST_NAMED = 5

/** Nobody can tell which of them was meant. */
function offerEach(draft: Draft, waiting: readonly HandoffRecord[]): void {
  const named = waiting.slice(-MOST_NAMED).map(({ briefId, sessionId }) => `${briefId} of session ${sessionId.slice(0, 8)}`)
  tell(
    draft,
    `[baton] ${waiting.length} briefs wait in this folder, and none is taken up by itself: ${named.join(', ')}. To go on from one here: baton handoffs use <brief>. To read it: baton handoffs show <brief>.`,
  )
}

/** Of one seat, whatever folder: nobody is on the way with it. */
function isLeft(draft: Draft, handoff: HandoffRecord): boolean {
  const { state, newSessionId } = handoff
  if (newSessionId !== null) return draft.parts.store.session(newSessionId)?.state === 'ended'
  return state === 'waiting' || state === 'clearing' || isReviewOver(draft, handoff)
}

const TOO_OLD = 'nobody took it up within 12 hours'

/** No handoff holds it any more; whoever wants it uses it. */
function offer(draft: Draft, handoff: HandoffRecord): void {
  const { store } = draft.parts
  const brief = handoff.briefId === null ? null : store.brief(handoff.briefId)
  moveHandoff(draft, handoff, 'cancelled', { trouble: TOO_OLD })
  emit(draft, 'handoff_cancelled', { ...fieldsOf(handoff), handoff_id: handoff.handoffId, reason: TOO_OLD })
  if (brief === null) return
  store.putBrief({ ...brief, status: 'checked' })
  const { briefId } = brief
  const since = `${brief.takenAt.slice(0, 16).replace('T', ' ')} UTC`
  tell(
    draft,
    `[baton] A brief of session ${handoff.sessionId.slice(0, 8)} waits here since ${since} (${briefId}), too long to be taken up by itself. To go on from it here: baton handoffs use ${briefId}. To read it: baton handoffs show ${briefId}.`,
  )
}

/** A session with a brief ready was resumed: whoever does that wants this conversation, and is told how to leave it. */
export function offerAtResume(draft: Draft): void {
  const { record } = draft
  const handoff = openHandoff(draft)
  if (handoff === null || handoff.briefId === null || handoff.sessionId !== record.sessionId || handoff.newSessionId !== null)
    return
  // A review that is open goes on.
  if (handoff.state === 'review' && !isReviewOver(draft, handoff)) return
  withdraw(draft, handoff)
  hush(draft, 'the session was resumed')
  moveHandoff(draft, handoff, 'waiting', { way: 'start', orderId: null, offered: true })
  const { briefId } = handoff
  tell(
    draft,
    `[baton] This session has a brief for a fresh one (${briefId}). It goes on as it is; type /clear to begin a fresh session with the brief, /handoff for a new one. baton handoffs cancel ${briefId} drops it.`,
  )
}

function tell(draft: Draft, text: string): void {
  const { seatId, sessionId } = draft.record
  queue(draft, { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text }, { seatId, sessionId })
}
