import { withoutClaimMarks } from '../../briefs/claims.js'
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
import { cancelStaleMessages, isAboutSession, queueMessage } from '../messages/messages.js'
import type { PolicyContext } from '../session-context.js'
import { endUnneededFork, mayFork, requestFork, withBrief, withForkOutcome } from './fork-brief.js'
import {
  applyEvent,
  arriveHandoff,
  beginHandoff,
  cancelHandoff,
  failHandoff,
  type HandoffRequest,
  updateHandoff,
} from './handoff-transitions.js'
import { cancelHandoffMessages, isForking, isSessionToClear, openHandoff, withdrawClearOrder } from './handoffs.js'
import { leaveSession, STARTED_BY_USER, startDriverEarly, waitForNextStart } from './leave-session.js'
import { addQuestion, type BriefMaterial, coverageOf, storeGivenBrief, storeMechanicalBrief } from './make-brief.js'
import { beginReview, endReview, isReviewOver, startReviewOrLeave } from './review.js'

/**
 * A handoff as the signals of a session move it (states: `handoff-transitions.ts`):
 *
 * a level or a user requests it   requested  the agent is asked at a tool boundary or turn end
 * the turn ends with a brief      checked    missing facts are added; if poor it is asked again
 * the turn ends without one       checked    with Baton's own brief, which says so
 * a fork writes the brief         requested  until the fork has ended (`fork-brief.ts`)
 * a review is configured          review     the user may read the brief first (`review.ts`)
 * a way to clear exists           clearing   the client is ordered to clear itself
 * no way to clear exists          waiting    the user is told that the brief waits for /clear
 * the session is cleared          confirmed  the fresh session gets the brief (`begin-fresh.ts`)
 * the fresh session is prompted   started
 * the fresh session works         done
 */

/** Begins a handoff and asks the agent for its brief. */
export function askForBrief(context: SignalContext, asked: HandoffRequest): HandoffRecord {
  const handoff = beginHandoff(context, asked)
  queueMessage(
    context,
    {
      category: 'handoff',
      mode: 'important',
      agent_text: requestText({ seatName: context.seatName }),
      user_text: null,
    },
    { seatId: context.record.seatId, sessionId: context.record.sessionId },
  )
  return updateHandoff(context, handoff, { asked: 1, ...startDriverEarly(context) })
}

/**
 * Vetoes a compaction and hands the session over to a fresh one instead.
 * Baton's own brief is ready at once, and a fresh session begins at the end of the turn.
 * The agent is asked for a better brief in the remaining context.
 */
export function blockAndHandOver(context: SignalContext): void {
  const { deps, record } = context
  const begun = openHandoff(context)
  const open = begun?.offered ? null : begun
  if (open === null && wasJustHandedOver(context)) return
  const asked: HandoffRequest = { cause: 'compaction', level: null, reason: 'the context was full', unattended: true }
  const handoff = open ?? askForBrief(context, asked)
  context.veto = '[baton] No compaction: Baton hands this session over to a fresh one.'
  record.compaction = record.compaction && { ...record.compaction, mayBeForbidden: true }
  if (handoff.briefId === null) {
    const material = briefMaterial(context)
    useBrief(
      context,
      handoff,
      storeMechanicalBrief(context, material, { reason: 'The context was full.', lastAnswer: null }),
      material,
    )
  }
  // The turn continues, so its further work is not in the brief.
  const ready = deps.store.handoff(handoff.handoffId)!
  if (READY.has(ready.state)) updateHandoff(context, ready, { stale: true })
}

/**
 * True when a handoff in this seat ended within the cooldown.
 * The session is then compacted instead of handed over again.
 */
function wasJustHandedOver({ deps, record, policy, at }: SignalContext): boolean {
  const last = deps.store.handoffs({ seatId: record.seatId, limit: 20 }).findLast(({ state }) => state === 'done')
  return last !== undefined && Date.parse(at) - Date.parse(last.stateAt) < policy.guards.cooldownSeconds * 1000
}

const INSTEAD_OF_BRIEF = 'Give no brief. Continue the work.'

/** Requests that somebody made and no level repeats, with who made them, as in a text. */
const ASKED_BY: Partial<Record<HandoffRecord['cause'], string>> = {
  user: 'you',
  agent: 'the agent',
  parent: 'the parent seat',
}

/**
 * Cancels the open handoff after a compaction, which has emptied the session.
 * The levels of the new cycle decide again.
 * A request that no level repeats must be made again.
 * The user and the parent seat that made such a request are told.
 * The brief of a cancelled request is kept for the recovery.
 * A brief that the user wrote or approved stays, because the user decided about its handoff.
 */
export function reconsiderHandoff(context: SignalContext): void {
  const { deps, record } = context
  const handoff = openHandoff(context)
  if (handoff === null || !isSessionToClear(context, handoff)) return
  const given = handoff.briefId === null ? null : deps.store.brief(handoff.briefId)
  if (given !== null && isApproved(given)) return
  // The client has begun to clear the session, which cannot be stopped.
  if (handoff.state === 'clearing' && !withdrawClearOrder(context, handoff)) return
  const isAsked = handoff.state === 'requested' && !cancelUndelivered(context, 'the conversation was compacted')
  cancelHandoff(context, handoff, 'the conversation was compacted', 'conversation-compacted')
  // The token count makes this text differ from that of an earlier cycle.
  // Equal texts count as one message when a conversation is searched.
  const when = handoff.usedTokens === null ? '' : ` at ${formatTokens(handoff.usedTokens)} tokens`
  const agent = isAsked
    ? `[baton] The handoff requested${when} is cancelled, because a compaction made room. ${INSTEAD_OF_BRIEF}`
    : null
  const who = ASKED_BY[handoff.cause]
  const user =
    who === undefined
      ? '[baton] The compaction cancelled the handoff. The levels decide again in the new cycle.'
      : `[baton] The compaction cancelled the handoff that ${who} asked for. To ask again: /handoff`
  queueMessage(
    context,
    { category: 'compaction', mode: 'important', agent_text: agent, user_text: user },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  if (handoff.cause !== 'parent' || !context.parentSeatId) return
  const id = record.sessionId.slice(0, 8)
  const text = `[baton] The handoff that you asked session ${id} for was cancelled, because the session was compacted.`
  queueMessage(
    context,
    { category: 'compaction', mode: 'sequential', agent_text: text, user_text: null },
    { seatId: context.parentSeatId, sessionId: null },
  )
}

/**
 * Applies the user's /handoff, which the plugin module has passed to the agent as a prompt.
 * Without a server, signals are processed late. This one may belong to the turn before the command.
 * The agent counts as asked only if this prompt is the request or this answer is the brief.
 */
export function applyTypedHandoff(context: SignalContext, typed: { words: string }): void {
  const { signal } = context
  const handoff = beginHandoff(context, {
    cause: 'user',
    level: null,
    reason: typed.words === '' ? null : typed.words,
    unattended: false,
  })
  // The user typed the command instead of an answer to the agent's question.
  // Text after the command may be that answer.
  const isUnanswered = signal.kind === 'prompt' && typed.words === ''
  const lastAnswer = isUnanswered ? briefMaterial(context).lastAnswer : null
  const isAsked = isBriefRequest(signal.prompt) || findBrief(signal.lastAnswer ?? '') !== null
  updateHandoff(context, handoff, {
    asked: isAsked ? 1 : 0,
    question: closingQuestion(lastAnswer ?? ''),
  })
}

/** Continues the handoff at the end of the main agent's turn, when the session may be cleared. */
export function handOverAtTurnEnd(context: SignalContext): void {
  const open = openHandoff(context)
  if (!open || open.sessionId !== context.record.sessionId) return
  const handoff = withQuestion(context, open)
  if (handoff.state === 'requested') {
    // A failed turn says nothing about the brief, as the client may repeat the turn.
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
 * Stores the question to the user that the turn ended with.
 * The brief was requested after the question, so an answer with only the brief keeps the question.
 */
function withQuestion(context: SignalContext, handoff: HandoffRecord): HandoffRecord {
  const answer = context.signal.lastAnswer ?? ''
  const brief = findBrief(answer)
  const title = brief?.split('\n', 1)[0]
  const question = closingQuestion(title === undefined ? answer : answer.slice(0, answer.lastIndexOf(title)))
  return question === null ? handoff : updateHandoff(context, handoff, { question })
}

/** True when the user wrote the text or approved it. */
function isApproved({ author, status }: BriefRecord): boolean {
  return author === 'user' || status === 'approved'
}

/**
 * Replaces Baton's hasty brief, or one that later work made stale, by the agent's own.
 * False when the agent wrote no better brief, or the order to clear can no longer be changed.
 */
function replaceBrief(context: SignalContext, handoff: HandoffRecord): boolean {
  const { deps, signal } = context
  const body = findBrief(signal.lastAnswer ?? '')
  const before = handoff.briefId === null ? null : deps.store.brief(handoff.briefId)
  if (body === null || before === null || isApproved(before)) return false
  // The agent only repeated the stored brief.
  if (withoutClaimMarks(deps.sources().keeper.read(before) ?? '').includes(body.trim())) return false
  const material = addQuestion(briefMaterial(context), handoff)
  const coverage = coverageOf(context, material, body)
  if (isWorse(context, before, coverage) || !withdrawClearOrder(context, handoff)) return false
  const brief = storeGivenBrief(context, material, { body, author: 'agent', reason: handoff.reason, coverage })
  deps.store.putBrief({ ...before, status: 'superseded' })
  cancelHandoffMessages(context, 'a better brief replaced it')
  useBrief(context, handoff, brief, material)
  return true
}

/** True for a poorer brief, such as a few words that point at a brief given in a file. */
function isWorse({ policy }: SignalContext, before: BriefRecord, coverage: Coverage | null): boolean {
  if (before.author === 'baton' || coverage === null) return false
  return coverage.score < Math.min(policy.handoff.bar, before.coverage?.score ?? 1)
}

/** Uses a brief that the agent gives while a fork of the session still writes one. */
function takeAgentBrief(context: SignalContext, handoff: HandoffRecord): void {
  const body = findBrief(context.signal.lastAnswer ?? '')
  if (body === null) return
  const material = addQuestion(briefMaterial(context), handoff)
  const brief = storeGivenBrief(context, material, { body, author: 'agent', reason: handoff.reason })
  useBrief(context, withForkOutcome(handoff, 'the agent gave one itself'), brief, material)
}

/**
 * Cancels a request that was not delivered yet.
 * True when a request was cancelled: the agent is asked at turn end instead.
 */
function cancelUndelivered(context: SignalContext, why = 'the agent is asked at the end of the turn'): boolean {
  return cancelStaleMessages(context, why, isAboutSession(context, ['handoff'])).length > 0
}

function judgeAnswer(context: SignalContext, handoff: HandoffRecord): void {
  const { signal, policy } = context
  const plain = briefMaterial(context)
  // Baton adds the question itself, so the brief's coverage does not suffer without it.
  const material = addQuestion(plain, handoff)
  const body = findBrief(signal.lastAnswer ?? '')
  const coverage = body === null ? null : coverageOf(context, plain, body)
  // A brief that cannot be compared is accepted: Baton could not name what is missing.
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
    storeGivenBrief(context, material, {
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
    requestFork(context, handoff, {
      reason: unwritten,
      given: step === 'take' ? body : handoff.draft,
      upTo: lastLine(material.facts),
    })
  else if (step === 'ask')
    askAgain(context, handoff, requestText({ seatName: context.seatName, isShown }), handoff.draft)
  else if (step === 'ask-again')
    askAgain(context, handoff, requestText({ seatName: context.seatName, missing: coverage!.missing }), body)
  else if (step === 'write') {
    const written = storeMechanicalBrief(context, material, {
      reason: unwritten,
      lastAnswer: signal.lastAnswer ?? null,
    })
    useBrief(context, handoff, written, material)
  } else useBrief(context, handoff, taken(step === 'take' ? body! : handoff.draft!), material)
}

/**
 * Asks at the end of the turn, in the answer to its hook.
 * A hook that did not wait for this answer has let the turn end.
 * The request then wakes the idle session or goes with the session's next event.
 */
function askAgain(context: SignalContext, handoff: HandoffRecord, text: string, given: string | null): void {
  const { record } = context
  const asked = applyEvent(context, handoff, 'asked-again', { asked: handoff.asked + 1, draft: given })
  if (asked === null) return
  if (context.isAwaited) context.insistence = text
  else
    queueMessage(
      context,
      { category: 'handoff', mode: 'urgent', agent_text: text, user_text: null },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
}

function useBrief(context: SignalContext, handoff: HandoffRecord, brief: BriefRecord, material: BriefMaterial): void {
  startReviewOrLeave(context, withBrief(context, handoff, brief, material), brief)
}

const READY = new Set<HandoffRecord['state']>(['checked', 'review', 'waiting', 'clearing'])

/**
 * Signals that show work after a brief.
 * A turn may continue without a prompt when a hook of the user blocks its end.
 * A turn also continues when its end delivers a message to the agent.
 */
const CONTINUES_TURN = new Set<SignalContext['signal']['kind']>(['prompt', 'tool-batch', 'turn-end'])

/**
 * Moves the handoff on when the fresh session works.
 * Marks the brief as stale when the old session continues.
 */
export function followHandoff(context: SignalContext): void {
  const { signal, record } = context
  const open = openHandoff(context)
  const handoff = open === null ? null : dropAnsweredQuestion(context, open)
  if (
    handoff &&
    isSessionToClear(context, handoff) &&
    CONTINUES_TURN.has(signal.kind) &&
    (READY.has(handoff.state) || isForking(handoff))
  )
    updateHandoff(context, handoff, { stale: true })
  if (!handoff || handoff.newSessionId !== record.sessionId) return
  if (signal.kind === 'prompt' && handoff.state === 'confirmed') applyEvent(context, handoff, 'fresh-session-prompted')
  if (signal.kind === 'tool-batch' || signal.kind === 'turn-end') arriveHandoff(context, handoff)
}

/** Marks the request as final: the turn's end uses the agent's brief or Baton's own. */
export function stopAsking(context: SignalContext): void {
  const handoff = openHandoff(context)
  if (handoff?.state === 'requested') updateHandoff(context, handoff, { lastCall: true })
}

/** Removes the stored question once the user answers it with a prompt of their own. */
function dropAnsweredQuestion(context: SignalContext, handoff: HandoffRecord): HandoffRecord {
  const { signal } = context
  const isAnswer = signal.kind === 'prompt' && !signal.prompt?.trimStart().startsWith('[baton]')
  if (!handoff.question || !isAnswer || !isSessionToClear(context, handoff)) return handoff
  return updateHandoff(context, handoff, { question: null })
}

/** Uses the agent's brief although its coverage is too low: completed, it is better than none. */
function keepDraft(context: PolicyContext, handoff: HandoffRecord, body: string): void {
  const material = addQuestion(briefMaterial({ ...context, read: null }), handoff)
  const brief = storeGivenBrief(context, material, { body, author: 'agent', reason: handoff.reason })
  reviewOrWait(context, withBrief(context, handoff, brief, material), brief)
}

/** Opens the configured review even though the session has ended. */
function reviewOrWait(context: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!beginReview(context, handoff, brief)) applyEvent(context, handoff, 'session-ended', STARTED_BY_USER)
}

/** Finishes a brief whose fork still runs, because the next start must not wait for it. */
function finishWithoutFork(context: PolicyContext, handoff: HandoffRecord): void {
  try {
    const ready = endUnneededFork({ ...context, read: null }, handoff, 'the session ended before the fork answered')
    reviewOrWait(context, ready.handoff, ready.brief)
  } catch (error) {
    if (!(error instanceof KeyTrouble)) throw error
    failHandoff(context, handoff, error.message)
  }
}

/**
 * Ends the session's part of a handoff when no fresh session follows in its client.
 * A finished brief waits for the next start, an unfinished one is dropped.
 * A fresh session that ended before it worked gives its brief back.
 * `lastSeenAt`: last signal of a client that died. The brief counts as waiting since then.
 */
export function settleHandoffAtSessionEnd(context: PolicyContext, lastSeenAt: string | null = null): void {
  endOldSession(context)
  const left = openHandoff(context)
  if (lastSeenAt !== null && left?.state === 'waiting' && left.stateAt === context.at)
    updateHandoff(context, left, { stateAt: lastSeenAt })
}

function endOldSession(context: PolicyContext): void {
  const handoff = openHandoff(context)
  if (handoff && handoff.newSessionId === context.record.sessionId) waitForNextStart(context, handoff)
  if (!handoff || handoff.sessionId !== context.record.sessionId || handoff.newSessionId !== null) return
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (isForking(handoff)) finishWithoutFork(context, handoff)
  else if (brief === null && handoff.draft !== null) keepDraft(context, handoff, handoff.draft)
  else if (brief === null) cancelHandoff(context, handoff, 'the session ended')
  // An open review still ends by time or by the user.
  else if (handoff.state === 'review') return
  else if (handoff.way !== 'start') {
    withdrawClearOrder(context, handoff)
    applyEvent(context, handoff, 'session-ended', STARTED_BY_USER)
  }
}
