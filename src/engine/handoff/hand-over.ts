import { findBrief, showsBrief } from '../../briefs/find-brief.js'
import { isBriefRequest, requestText, stepAtTurnEnd } from '../../briefs/request-text.js'
import type { BriefRecord, Coverage } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { closingQuestion } from '../../facts/questions.js'
import { KeyTrouble } from '../../lib/machine-key.js'
import { formatTokens } from '../../policy/numbers.js'
import { briefMaterial } from '../compaction/brief-sources.js'
import { keepTranscript } from '../compaction/keep-transcript.js'
import { lastLine } from '../compaction/late-findings.js'
import type { SignalContext } from '../context.js'
import { cancelStale, ofSession, queue } from '../messages/messages.js'
import type { PolicyContext } from '../session-context.js'
import { endedFork, mayFork, wantFork, withBrief, withoutFork } from './fork-brief.js'
import {
  applyEvent,
  arriveHandoff,
  beginHandoff,
  cancelHandoff,
  failHandoff,
  type HandoffRequest,
  updateHandoff,
} from './handoff-transitions.js'
import { cancelHandoffMessages, isForking, isToLeave, openHandoff, withdraw } from './handoffs.js'
import { BY_NEXT_START, leaveSession, readyToType, waitForNextStart } from './leave-session.js'
import { addQuestion, type BriefMaterial, coverageOf, takeBrief, writeBrief } from './make-brief.js'
import { beginReview, endReview, isReviewOver, reviewOrLeave } from './review.js'

/**
 * A handoff with the signals of a session (its states: `handoff-transitions.ts`):
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
export function askForBrief(context: SignalContext, asked: HandoffRequest): HandoffRecord {
  const handoff = beginHandoff(context, asked)
  queue(
    context,
    {
      category: 'handoff',
      mode: 'important',
      agent_text: requestText({ seatName: context.seatName }),
      user_text: null,
    },
    { seatId: context.record.seatId, sessionId: context.record.sessionId },
  )
  return updateHandoff(context, handoff, { asked: 1, ...readyToType(context) })
}

/**
 * The client wants to compact, and is kept from it: Baton's own brief is ready at once, the order to leave is given for the end of the
 * turn, however it ends, and the agent is asked for a better brief in the room that is left.
 */
export function blockAndHandOver(context: SignalContext): void {
  const { deps, record } = context
  const begun = openHandoff(context)
  const open = begun?.offered ? null : begun
  if (open === null && wasJustHandedOver(context)) return
  const asked: HandoffRequest = { cause: 'compaction', level: null, reason: 'the context was full', unattended: true }
  const handoff = open ?? askForBrief(context, asked)
  context.veto = '[baton] The session is handed over to a fresh one instead.'
  record.compaction = record.compaction && { ...record.compaction, mayBeForbidden: true }
  if (handoff.briefId === null) {
    const material = briefMaterial(context)
    useBrief(
      context,
      handoff,
      writeBrief(context, material, { reason: 'The context was full.', lastAnswer: null }),
      material,
    )
  }
  // The turn is not over: what it still does is not in the brief.
  const ready = deps.store.handoff(handoff.handoffId)!
  if (READY.has(ready.state)) updateHandoff(context, ready, { stale: true })
}

/** Such a seat is compacted rather than handed over again and again. */
function wasJustHandedOver({ deps, record, policy, at }: SignalContext): boolean {
  const last = deps.store.handoffs({ seatId: record.seatId, limit: 20 }).findLast(({ state }) => state === 'done')
  return last !== undefined && Date.parse(at) - Date.parse(last.stateAt) < policy.guards.cooldownSeconds * 1000
}

/** Requests that a cycle made by itself: the level of a cycle, or a compaction that was held up. */
const MADE_BY_CYCLE = new Set<HandoffRecord['cause']>(['level', 'compaction'])

/**
 * A compaction has emptied the session, so the reason of a request that the old cycle made is gone:
 * it is cancelled, and the levels of the new cycle decide again. A brief that was written for it
 * stays with the session for the recovery. What a user, the agent itself or a parent asked for has
 * no level that could ask again, so it stays; its agent may have lost the request with the old
 * conversation and is asked once more at the end of its turn.
 */
export function reconsiderHandoff(context: SignalContext): void {
  const { record } = context
  const handoff = openHandoff(context)
  if (handoff === null || !isToLeave(context, handoff)) return
  if (!MADE_BY_CYCLE.has(handoff.cause)) {
    if (handoff.state === 'requested' && !isForking(handoff)) updateHandoff(context, handoff, { asked: 0 })
    return
  }
  // The client has begun to clear the session: that cannot be stopped.
  if (handoff.state === 'clearing' && !withdraw(context, handoff)) return
  const isAsked = handoff.state === 'requested' && !cancelUndelivered(context, 'the conversation was compacted')
  cancelHandoff(context, handoff, 'the conversation was compacted', 'conversation-compacted')
  // With the figure the text differs from that of an earlier cycle: equal texts count as one message
  // when a conversation is searched for what it holds.
  const when = handoff.usedTokens === null ? '' : ` at ${formatTokens(handoff.usedTokens)} tokens`
  const agent = isAsked
    ? `[baton] The handoff you were asked for${when} is cancelled: this conversation was compacted, and there is room again. Give no brief, and go on with the work.`
    : null
  const user =
    '[baton] The handoff that was asked for before the compaction is cancelled; the levels of the new cycle decide again.'
  queue(
    context,
    { category: 'compaction', mode: 'important', agent_text: agent, user_text: user },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/**
 * Takes the user's /handoff, which the mod has passed on to the agent as a prompt. Without a server
 * signals are handled late, so this one may belong to the turn before the command was typed: the
 * agent counts as asked only if this prompt is the request, or this answer is the brief.
 */
export function takeTyped(context: SignalContext, typed: { words: string }): void {
  const { signal } = context
  const handoff = beginHandoff(context, {
    cause: 'user',
    level: null,
    reason: typed.words === '' ? null : typed.words,
    unattended: false,
  })
  // Typed instead of an answer to the question the last turn ended with. Words behind the command
  // may be that answer.
  const isUnanswered = signal.kind === 'prompt' && typed.words === ''
  const lastAnswer = isUnanswered ? briefMaterial(context).lastAnswer : null
  const isAsked = isBriefRequest(signal.prompt) || findBrief(signal.lastAnswer ?? '') !== null
  updateHandoff(context, handoff, {
    asked: isAsked ? 1 : 0,
    question: closingQuestion(lastAnswer ?? ''),
  })
}

/** The turn of the main agent is over: the moment a session can be left. */
export function handOverAtTurnEnd(context: SignalContext): void {
  const open = openHandoff(context)
  if (!open || open.sessionId !== context.record.sessionId) return
  const handoff = withQuestion(context, open)
  if (handoff.state === 'requested') {
    // A turn that failed says nothing about the brief: it may be tried again.
    if (context.signal.kind !== 'turn-end') return
    if (isForking(handoff)) takeAgentBrief(context, handoff)
    else judgeAnswer(context, cancelUndelivered(context) ? { ...handoff, asked: 0 } : handoff)
  } else if (handoff.state === 'clearing') replaceBrief(context, handoff)
  else if (handoff.state === 'review') {
    if (!replaceBrief(context, handoff) && isReviewOver(context, handoff)) endReview(context, handoff)
  } else if (handoff.state === 'checked' || (handoff.state === 'waiting' && !handoff.offered)) {
    if (!replaceBrief(context, handoff)) leaveSession(context, handoff)
  }
}

/**
 * Remembers the question to the user that the turn ended with. An answer that only gives the brief
 * keeps the one before it: the agent was asked for the brief behind its question.
 */
function withQuestion(context: SignalContext, handoff: HandoffRecord): HandoffRecord {
  const answer = context.signal.lastAnswer ?? ''
  const brief = findBrief(answer)
  const title = brief?.split('\n', 1)[0]
  const question = closingQuestion(title === undefined ? answer : answer.slice(0, answer.lastIndexOf(title)))
  return question === null ? handoff : updateHandoff(context, handoff, { question })
}

/** A person wrote the text or said yes to it. */
function isAgreed({ author, status }: BriefRecord): boolean {
  return author === 'user' || status === 'approved'
}

/**
 * The agent's own brief takes the place of the one Baton wrote in haste, or of one that the work has left behind, if the
 * order to leave can still be changed. False: there is none, it would be worse, or it comes too late.
 */
function replaceBrief(context: SignalContext, handoff: HandoffRecord): boolean {
  const { deps, signal } = context
  const body = findBrief(signal.lastAnswer ?? '')
  const before = handoff.briefId === null ? null : deps.store.brief(handoff.briefId)
  if (body === null || before === null || isAgreed(before)) return false
  // Only said once more.
  if (deps.sources().keeper.read(before)?.includes(body.trim())) return false
  const material = addQuestion(briefMaterial(context), handoff)
  const coverage = coverageOf(context, material, body)
  if (isWorse(context, before, coverage) || !withdraw(context, handoff)) return false
  const brief = takeBrief(context, material, { body, author: 'agent', reason: handoff.reason, coverage })
  deps.store.putBrief({ ...before, status: 'superseded' })
  cancelHandoffMessages(context, 'a better brief took its place')
  useBrief(context, handoff, brief, material)
  return true
}

/** A few words that only point at the brief given before, such as in a file, are no better one. */
function isWorse({ policy }: SignalContext, before: BriefRecord, coverage: Coverage | null): boolean {
  if (before.author === 'baton' || coverage === null) return false
  return coverage.score < Math.min(policy.handoff.bar, before.coverage?.score ?? 1)
}

/** The agent went on while a fork writes, and gave a brief after all. */
function takeAgentBrief(context: SignalContext, handoff: HandoffRecord): void {
  const body = findBrief(context.signal.lastAnswer ?? '')
  if (body === null) return
  const material = addQuestion(briefMaterial(context), handoff)
  const brief = takeBrief(context, material, { body, author: 'agent', reason: handoff.reason })
  useBrief(context, endedFork(handoff, 'the agent gave one itself'), brief, material)
}

/** The request still waits to be given: at the end of a turn it is given another way. */
function cancelUndelivered(context: SignalContext, why = 'it is asked for at the end of the turn'): boolean {
  return cancelStale(context, why, ofSession(context, ['handoff'])).length > 0
}

function judgeAnswer(context: SignalContext, handoff: HandoffRecord): void {
  const { signal, policy } = context
  const plain = briefMaterial(context)
  // Baton carries the question itself, so a brief without it is not below the bar.
  const material = addQuestion(plain, handoff)
  const body = findBrief(signal.lastAnswer ?? '')
  const coverage = body === null ? null : coverageOf(context, plain, body)
  // A brief nothing could be compared with is taken as it is: the agent would be asked for nobody knows what.
  const score = body === null ? null : (coverage?.score ?? 1)
  const isShown = body === null && showsBrief(signal.lastAnswer ?? '')
  const step = stepAtTurnEnd({
    asked: handoff.asked,
    score,
    isShown,
    hasDraft: handoff.draft !== null,
    bar: policy.handoff.bar,
    canAsk: context.agent.insist !== undefined && !handoff.lastCall,
  })
  if (step !== 'ask' && step !== 'ask-again') keepTranscript(context, 'handoff', 'handoff')
  const taken = (text: string): BriefRecord =>
    takeBrief(context, material, {
      body: text,
      author: 'agent',
      reason: handoff.reason,
      ...(text === body && material === plain ? { coverage } : {}),
    })
  const isPoor = step === 'take' && handoff.asked > 1 && score! < policy.handoff.bar
  const wasAsked = handoff.asked > 0
  const unwritten = wasAsked
    ? 'The agent was asked for a brief and gave none.'
    : 'The context was full before the agent could be asked.'
  if ((step === 'write' || step === 'take-draft' || isPoor) && mayFork(context))
    wantFork(context, handoff, {
      reason: unwritten,
      given: step === 'take' ? body : handoff.draft,
      upTo: lastLine(material.facts),
    })
  else if (step === 'ask') insist(context, handoff, requestText({ seatName: context.seatName, isShown }), handoff.draft)
  else if (step === 'ask-again')
    insist(context, handoff, requestText({ seatName: context.seatName, missing: coverage!.missing }), body)
  else if (step === 'write') {
    const written = writeBrief(context, material, { reason: unwritten, lastAnswer: signal.lastAnswer ?? null })
    useBrief(context, handoff, written, material)
  } else useBrief(context, handoff, taken(step === 'take' ? body! : handoff.draft!), material)
}

function insist(context: SignalContext, handoff: HandoffRecord, text: string, given: string | null): void {
  const asked = applyEvent(context, handoff, 'asked-again', { asked: handoff.asked + 1, draft: given })
  if (asked !== null) context.insistence = text
}

function useBrief(context: SignalContext, handoff: HandoffRecord, brief: BriefRecord, material: BriefMaterial): void {
  reviewOrLeave(context, withBrief(context, handoff, brief, material), brief)
}

const READY = new Set<HandoffRecord['state']>(['checked', 'review', 'waiting', 'clearing'])

/** A turn goes on behind its brief also without a prompt: a hook of the user's holds up its end, or a message is given with it. */
const CONTINUES_TURN = new Set<SignalContext['signal']['kind']>(['prompt', 'tool-batch', 'turn-end'])

/** What the main agent of the fresh session does shows how far the handoff has come; what that of the old one goes on with makes its brief old. */
export function followHandoff(context: SignalContext): void {
  const { signal, record } = context
  const open = openHandoff(context)
  const handoff = open === null ? null : withoutAnswered(context, open)
  if (
    handoff &&
    isToLeave(context, handoff) &&
    CONTINUES_TURN.has(signal.kind) &&
    (READY.has(handoff.state) || isForking(handoff))
  )
    updateHandoff(context, handoff, { stale: true })
  if (!handoff || handoff.newSessionId !== record.sessionId) return
  if (signal.kind === 'prompt' && handoff.state === 'confirmed') applyEvent(context, handoff, 'fresh-session-prompted')
  if (signal.kind === 'tool-batch' || signal.kind === 'turn-end') arriveHandoff(context, handoff)
}

/** The agent is not asked again: the end of its turn uses the brief it gave, or Baton's own. */
export function askNoMore(context: SignalContext): void {
  const handoff = openHandoff(context)
  if (handoff?.state === 'requested') updateHandoff(context, handoff, { lastCall: true })
}

/** A prompt of the user's own in the session that is to be left answers the question its last turn ended with. */
function withoutAnswered(context: SignalContext, handoff: HandoffRecord): HandoffRecord {
  const { signal } = context
  const isAnswer = signal.kind === 'prompt' && !signal.prompt?.trimStart().startsWith('[baton]')
  if (!handoff.question || !isAnswer || !isToLeave(context, handoff)) return handoff
  return updateHandoff(context, handoff, { question: null })
}

/** Below the bar, and asked for once more: it is the agent's own, and completed it is better than none. */
function keepDraft(context: PolicyContext, handoff: HandoffRecord, body: string): void {
  const material = addQuestion(briefMaterial({ ...context, read: null }), handoff)
  const brief = takeBrief(context, material, { body, author: 'agent', reason: handoff.reason })
  reviewOrWait(context, withBrief(context, handoff, brief, material), brief)
}

/** What a person may look at first is looked at first, though the session has ended. */
function reviewOrWait(context: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!beginReview(context, handoff, brief)) applyEvent(context, handoff, 'session-ended', BY_NEXT_START)
}

/** A fork still writes, and the next start is not to wait for it. */
function finishWithoutFork(context: PolicyContext, handoff: HandoffRecord): void {
  try {
    const ready = withoutFork({ ...context, read: null }, handoff, 'the session ended before it had answered')
    reviewOrWait(context, ready.handoff, ready.brief)
  } catch (error) {
    if (!(error instanceof KeyTrouble)) throw error
    failHandoff(context, handoff, error.message)
  }
}

/**
 * The session ended, and no fresh one follows it in its client: what is written waits for the next start; what is not will not be. A fresh
 * session that ended before it worked has done nothing with its brief, whatever it was told. `lastSeenAt`: when a client that died was
 * seen last; the brief waits since then.
 */
export function handOverAtSessionEnd(context: PolicyContext, lastSeenAt: string | null = null): void {
  leaveEnded(context)
  const left = openHandoff(context)
  if (lastSeenAt !== null && left?.state === 'waiting' && left.stateAt === context.at)
    updateHandoff(context, left, { stateAt: lastSeenAt })
}

function leaveEnded(context: PolicyContext): void {
  const handoff = openHandoff(context)
  if (handoff && handoff.newSessionId === context.record.sessionId) waitForNextStart(context, handoff)
  if (!handoff || handoff.sessionId !== context.record.sessionId || handoff.newSessionId !== null) return
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (isForking(handoff)) finishWithoutFork(context, handoff)
  else if (brief === null && handoff.draft !== null) keepDraft(context, handoff, handoff.draft)
  else if (brief === null) cancelHandoff(context, handoff, 'the session ended')
  // What nobody has agreed to yet is agreed to by time or by a person, also now.
  else if (handoff.state === 'review') return
  else if (handoff.way !== 'start') {
    withdraw(context, handoff)
    applyEvent(context, handoff, 'session-ended', BY_NEXT_START)
  }
}
