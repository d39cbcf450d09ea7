import type { BriefRecord, Coverage } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { stepAtTurnEnd } from '../handoff/at-turn-end.js'
import { findBrief } from '../handoff/find-brief.js'
import { requestText } from '../handoff/request-text.js'
import { KeyTrouble } from '../lib/machine-key.js'
import type { LeaveDesk } from './desk.js'
import type { Draft } from './draft.js'
import { endedFork, mayFork, wantFork, withBrief, withoutFork } from './fork-brief.js'
import { lastLine } from './found-later.js'
import {
  type Asked,
  arriveHandoff,
  beginHandoff,
  cancelHandoff,
  failHandoff,
  hush,
  isForking,
  isToLeave,
  moveHandoff,
  openHandoff,
  withdraw,
} from './handoffs.js'
import { keepTranscript } from './keep-transcript.js'
import { leaveSession, readyToType, waitForNextStart } from './leave-session.js'
import type { BriefGround } from './make-brief.js'
import { cancelStale, ofSession, queue } from './messages.js'
import { beginReview, endReview, isReviewOver, reviewOrLeave } from './review.js'

/**
 * A handoff with the signals of a session (its states: `contract/handoff.ts`):
 *
 *   a level or a person asks          requested   the agent is asked at the next tool boundary, else at the end of its turn
 *   the turn ends with the brief      checked     completed by what it lacks; below the bar the agent is asked once more first
 *   it ends without one               checked     Baton's own brief, which says so; where the configuration lets a fork of the session
 *                                                 write it (`fork-brief.ts`), the handoff is `requested` until then
 *   then                              review      a person may look at it first, where the configuration says so (`review.ts`)
 *   then                              clearing    the client is ordered to clear and to go on with a prompt; or
 *                                     waiting     the person is told that the brief is ready for the next clear
 *   the session is cleared            confirmed   the brief goes with the first request of the fresh one (`begin-fresh.ts`)
 *   the fresh one is prompted         started
 *   it works                          done
 */

/** A brief is wanted of this session. */
export function askForBrief(draft: Draft, asked: Asked): HandoffRecord {
  const handoff = beginHandoff(draft, asked)
  queue(
    draft,
    { category: 'handoff', mode: 'important', agent_text: requestText({ seatName: draft.seatName }), user_text: null },
    { seatId: draft.record.seatId, sessionId: draft.record.sessionId },
  )
  return moveHandoff(draft, handoff, 'requested', { asked: 1, ...readyToType(draft) })
}

/**
 * The client wants to compact, and is kept from it: Baton's own brief is ready at once, the order to leave is given for the end of the
 * turn, however it ends, and the agent is asked for a better brief in the room that is left.
 */
export function blockAndHandOver(draft: Draft): void {
  const { parts, record } = draft
  const begun = openHandoff(draft)
  const open = begun?.offered ? null : begun
  if (open === null && wasJustHandedOver(draft)) return
  const asked: Asked = { cause: 'compaction', level: null, reason: 'the context was full', unattended: true }
  const handoff = open ?? askForBrief(draft, asked)
  draft.veto = '[baton] The session is handed over to a fresh one instead.'
  record.compaction = record.compaction && { ...record.compaction, mayBeForbidden: true }
  if (handoff.briefId === null) {
    const around = parts.around()
    const ground = around.briefGround(draft)
    useBrief(draft, handoff, around.writeBrief(draft, ground, { reason: 'The context was full.', lastAnswer: null }), ground)
  }
  // The turn is not over: what it still does is not in the brief.
  const ready = parts.store.handoff(handoff.handoffId)!
  if (READY.has(ready.state)) parts.store.putHandoff({ ...ready, stale: true })
}

/** Such a seat is compacted rather than handed over again and again. */
function wasJustHandedOver({ parts, record, policy, at }: Draft): boolean {
  const last = parts.store.handoffs({ seatId: record.seatId, limit: 20 }).findLast(({ state }) => state === 'done')
  return last !== undefined && Date.parse(at) - Date.parse(last.stateAt) < policy.guards.cooldownSeconds * 1000
}

/** The person typed the command for it inside the client, which has asked the agent already. */
export function takeTyped(draft: Draft, typed: { words: string }): void {
  const handoff = beginHandoff(draft, {
    cause: 'user',
    level: null,
    reason: typed.words === '' ? null : typed.words,
    unattended: false,
  })
  moveHandoff(draft, handoff, 'requested', { asked: 1 })
}

/** The turn of the main agent is over: the moment a session can be left. */
export function handOverAtTurnEnd(draft: Draft): void {
  const handoff = openHandoff(draft)
  if (!handoff || handoff.sessionId !== draft.record.sessionId) return
  if (handoff.state === 'requested') {
    // A turn that failed says nothing about the brief: it may be tried again.
    if (draft.signal.kind !== 'turn-end') return
    if (isForking(handoff)) takeInstead(draft, handoff)
    else judgeAnswer(draft, unheard(draft) ? { ...handoff, asked: 0 } : handoff)
  } else if (handoff.state === 'clearing') improve(draft, handoff)
  else if (handoff.state === 'review') {
    if (!improve(draft, handoff) && isReviewOver(draft, handoff)) endReview(draft, handoff)
  } else if (handoff.state === 'checked' || (handoff.state === 'waiting' && !handoff.offered)) {
    if (!improve(draft, handoff)) leaveSession(draft, handoff)
  }
}

/** A person wrote the text or said yes to it. */
function isAgreed({ author, status }: BriefRecord): boolean {
  return author === 'user' || status === 'approved'
}

/**
 * The agent's own brief takes the place of the one Baton wrote in haste, or of one that the work has left behind, if the
 * order to leave can still be changed. False: there is none, it would be worse, or it comes too late.
 */
function improve(draft: Draft, handoff: HandoffRecord): boolean {
  const { parts, signal } = draft
  const body = findBrief(signal.lastAnswer ?? '')
  const before = handoff.briefId === null ? null : parts.store.brief(handoff.briefId)
  if (body === null || before === null || isAgreed(before)) return false
  const around = parts.around()
  // Only said once more.
  if (around.readBrief(parts, before)?.includes(body.trim())) return false
  const ground = around.briefGround(draft)
  const coverage = around.coverageOf(draft, ground, body)
  if (isWorse(draft, before, coverage) || !withdraw(draft, handoff)) return false
  const brief = around.takeBrief(draft, ground, { body, author: 'agent', reason: handoff.reason, coverage })
  parts.store.putBrief({ ...before, status: 'superseded' })
  hush(draft, 'a better brief took its place')
  useBrief(draft, handoff, brief, ground)
  return true
}

/** A few words that only point at the brief given before, such as in a file, are no better one. */
function isWorse({ policy }: Draft, before: BriefRecord, coverage: Coverage | null): boolean {
  if (before.author === 'baton' || coverage === null) return false
  return coverage.score < Math.min(policy.handoff.bar, before.coverage?.score ?? 1)
}

/** The agent went on while a fork writes, and gave a brief after all. */
function takeInstead(draft: Draft, handoff: HandoffRecord): void {
  const body = findBrief(draft.signal.lastAnswer ?? '')
  if (body === null) return
  const around = draft.parts.around()
  const ground = around.briefGround(draft)
  const brief = around.takeBrief(draft, ground, { body, author: 'agent', reason: handoff.reason })
  useBrief(draft, endedFork(handoff, 'the agent gave one itself'), brief, ground)
}

/** The request still waits to be given: at the end of a turn it is given another way. */
function unheard(draft: Draft): boolean {
  return cancelStale(draft, 'it is asked for at the end of the turn', ofSession(draft, ['handoff'])).length > 0
}

function judgeAnswer(draft: Draft, handoff: HandoffRecord): void {
  const { parts, signal, policy } = draft
  const around = parts.around()
  const ground = around.briefGround(draft)
  const body = findBrief(signal.lastAnswer ?? '')
  const coverage = body === null ? null : around.coverageOf(draft, ground, body)
  // A brief nothing could be compared with is taken as it is: the agent would be asked for nobody knows what.
  const score = body === null ? null : (coverage?.score ?? 1)
  const step = stepAtTurnEnd({
    asked: handoff.asked,
    score,
    hasDraft: handoff.draft !== null,
    bar: policy.handoff.bar,
    canAsk: draft.agent.insist !== undefined && !handoff.lastCall,
  })
  if (step !== 'ask' && step !== 'ask-again') keepTranscript(draft, 'handoff', 'handoff')
  const taken = (text: string): BriefRecord =>
    around.takeBrief(draft, ground, {
      body: text,
      author: 'agent',
      reason: handoff.reason,
      ...(text === body ? { coverage } : {}),
    })
  const isPoor = step === 'take' && handoff.asked > 1 && score! < policy.handoff.bar
  const heard = handoff.asked > 0
  const unwritten = heard
    ? 'The agent was asked for a brief and gave none.'
    : 'The context was full before the agent could be asked.'
  if ((step === 'write' || step === 'take-draft' || isPoor) && mayFork(draft))
    wantFork(draft, handoff, { reason: unwritten, given: step === 'take' ? body : handoff.draft, upTo: lastLine(ground.facts) })
  else if (step === 'ask') insist(draft, handoff, requestText({ seatName: draft.seatName }), handoff.draft)
  else if (step === 'ask-again')
    insist(draft, handoff, requestText({ seatName: draft.seatName, missing: coverage!.missing }), body)
  else if (step === 'write') {
    const written = around.writeBrief(draft, ground, { reason: unwritten, lastAnswer: signal.lastAnswer ?? null })
    useBrief(draft, handoff, written, ground)
  } else useBrief(draft, handoff, taken(step === 'take' ? body! : handoff.draft!), ground)
}

function insist(draft: Draft, handoff: HandoffRecord, text: string, given: string | null): void {
  draft.insistence = text
  moveHandoff(draft, handoff, 'requested', { asked: handoff.asked + 1, draft: given })
}

function useBrief(draft: Draft, handoff: HandoffRecord, brief: BriefRecord, ground: BriefGround): void {
  reviewOrLeave(draft, withBrief(draft, handoff, brief, ground), brief)
}

const READY = new Set<HandoffRecord['state']>(['checked', 'review', 'waiting', 'clearing'])

/** A turn goes on behind its brief also without a prompt: a hook of the user's holds up its end, or a message is given with it. */
const GOES_ON = new Set<Draft['signal']['kind']>(['prompt', 'tool-batch', 'turn-end'])

/** What the main agent of the fresh session does shows how far the handoff has come; what that of the old one goes on with makes its brief old. */
export function followHandoff(draft: Draft): void {
  const { signal, record, parts } = draft
  const handoff = openHandoff(draft)
  if (handoff && isToLeave(draft, handoff) && GOES_ON.has(signal.kind) && (READY.has(handoff.state) || isForking(handoff)))
    parts.store.putHandoff({ ...handoff, stale: true })
  if (!handoff || handoff.newSessionId !== record.sessionId) return
  const started = handoff.state === 'confirmed' && signal.kind === 'prompt' ? moveHandoff(draft, handoff, 'started') : handoff
  const works = signal.kind === 'tool-batch' || signal.kind === 'turn-end'
  if (!works || (started.state !== 'started' && started.state !== 'confirmed')) return
  arriveHandoff(draft, started)
}

/** Below the bar, and asked for once more: it is the agent's own, and completed it is better than none. */
function keepDraft(desk: LeaveDesk, handoff: HandoffRecord, body: string): void {
  const around = desk.parts.around()
  const ground = around.briefGround({ ...desk, read: null })
  const brief = around.takeBrief(desk, ground, { body, author: 'agent', reason: handoff.reason })
  reviewOrWait(desk, withBrief(desk, handoff, brief, ground), brief)
}

/** What a person may look at first is looked at first, though the session has ended. */
function reviewOrWait(desk: LeaveDesk, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!beginReview(desk, handoff, brief)) moveHandoff(desk, handoff, 'waiting', { way: 'start', orderId: null })
}

/** A fork still writes, and the next start is not to wait for it. */
function leaveFork(desk: LeaveDesk, handoff: HandoffRecord): void {
  try {
    const ready = withoutFork({ ...desk, read: null }, handoff, 'the session ended before it had answered')
    reviewOrWait(desk, ready.handoff, ready.brief)
  } catch (error) {
    if (!(error instanceof KeyTrouble)) throw error
    failHandoff(desk, handoff, error.message)
  }
}

/**
 * The session ended, and no fresh one follows it in its client: what is written waits for the next start; what is not will not be. A fresh
 * session that ended before it worked has done nothing with its brief, whatever it was told.
 */
export function handOverAtSessionEnd(draft: LeaveDesk): void {
  const handoff = openHandoff(draft)
  if (handoff && handoff.newSessionId === draft.record.sessionId) waitForNextStart(draft, handoff)
  if (!handoff || handoff.sessionId !== draft.record.sessionId || handoff.newSessionId !== null) return
  const brief = handoff.briefId === null ? null : draft.parts.store.brief(handoff.briefId)
  if (isForking(handoff)) leaveFork(draft, handoff)
  else if (brief === null && handoff.draft !== null) keepDraft(draft, handoff, handoff.draft)
  else if (brief === null) cancelHandoff(draft, handoff, 'the session ended')
  // What nobody has agreed to yet is agreed to by time or by a person, also now.
  else if (handoff.state === 'review') return
  else if (handoff.way !== 'start') {
    withdraw(draft, handoff)
    moveHandoff(draft, handoff, 'waiting', { way: 'start', orderId: null })
  }
}
