import type { BriefRecord } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { stepAtTurnEnd } from '../handoff/at-turn-end.js'
import { findBrief } from '../handoff/find-brief.js'
import { requestText } from '../handoff/request-text.js'
import { continuePrompt, resumeText } from '../handoff/resume-text.js'
import { type Desk, type Draft, emit } from './draft.js'
import { type Asked, beginHandoff, cancelHandoff, failHandoff, fieldsOf, moveHandoff, openHandoff, withdraw } from './handoffs.js'
import { keepTranscript } from './keep-transcript.js'
import { leaveSession, readyToType, typeOn, waitForNextStart } from './leave-session.js'
import { cancelStale, ofSession, queue } from './messages.js'

/**
 * A handoff with the signals of a session (its states: `contract/handoff.ts`):
 *
 *   a level or a person asks          requested   the agent is asked at the next tool boundary, else at the end of its turn
 *   the turn ends with the brief      checked     completed by what it lacks; below the bar the agent is asked once more first
 *   it ends without one               checked     Baton's own brief, which says so
 *   then                              clearing    the client is ordered to clear and to go on with a prompt; or
 *                                     waiting     the person is told that the brief is ready for the next clear
 *   the session is cleared            confirmed   the brief goes with the first request of the fresh one
 *   the fresh one is prompted         started
 *   it works                          done
 */

/** From the clear to the first prompt. */
const PROMPT_MS = 60_000
/** The client passes ten thousand characters on whole, and other words may travel along. */
const LONGEST_BRIEF = 8_500

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
  const open = openHandoff(draft)
  if (open === null && wasJustHandedOver(draft)) return
  const asked: Asked = { cause: 'compaction', level: null, reason: 'the context was full', unattended: true }
  const handoff = open ?? askForBrief(draft, asked)
  draft.veto = '[baton] The session is handed over to a fresh one instead.'
  record.compaction = record.compaction && { ...record.compaction, mayBeForbidden: true }
  if (handoff.briefId !== null) return
  const around = parts.around()
  const brief = around.writeBrief(draft, around.briefGround(draft), { reason: 'The context was full.', lastAnswer: null })
  leaveSession(draft, withBrief(draft, handoff, brief))
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
    if (draft.signal.kind === 'turn-end') judgeAnswer(draft, unheard(draft) ? { ...handoff, asked: 0 } : handoff)
  } else if (handoff.state === 'clearing') improve(draft, handoff)
  else if (handoff.state === 'checked' || handoff.state === 'waiting') leaveSession(draft, handoff)
}

/** The agent's own brief takes the place of the one Baton wrote in haste, if the order to leave can still be changed. */
function improve(draft: Draft, handoff: HandoffRecord): void {
  const { parts, signal } = draft
  const body = findBrief(signal.lastAnswer ?? '')
  const hasty = handoff.briefId === null ? null : parts.store.brief(handoff.briefId)
  if (body === null || hasty?.author !== 'baton' || !withdraw(draft, handoff)) return
  const around = parts.around()
  const brief = around.takeBrief(draft, around.briefGround(draft), { body, author: 'agent', reason: handoff.reason })
  parts.store.putBrief({ ...hasty, status: 'superseded' })
  leaveSession(draft, withBrief(draft, handoff, brief))
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
  const step = stepAtTurnEnd({
    asked: handoff.asked,
    score: coverage?.score ?? null,
    hasDraft: handoff.draft !== null,
    bar: policy.handoff.bar,
    canAsk: draft.agent.insist !== undefined,
  })
  if (step !== 'ask' && step !== 'ask-again') keepTranscript(draft, 'handoff', 'handoff')
  const taken = (text: string): BriefRecord =>
    around.takeBrief(draft, ground, {
      body: text,
      author: 'agent',
      reason: handoff.reason,
      ...(coverage && text === body ? { coverage } : {}),
    })
  if (step === 'ask') insist(draft, handoff, requestText({ seatName: draft.seatName }), handoff.draft)
  else if (step === 'ask-again')
    insist(draft, handoff, requestText({ seatName: draft.seatName, missing: coverage!.missing }), body)
  else if (step === 'write') {
    const reason = 'The agent was asked for a brief and gave none.'
    leaveSession(
      draft,
      withBrief(draft, handoff, around.writeBrief(draft, ground, { reason, lastAnswer: signal.lastAnswer ?? null })),
    )
  } else leaveSession(draft, withBrief(draft, handoff, taken(step === 'take' ? body! : handoff.draft!)))
}

function insist(draft: Draft, handoff: HandoffRecord, text: string, given: string | null): void {
  draft.insistence = text
  moveHandoff(draft, handoff, 'requested', { asked: handoff.asked + 1, draft: given })
}

export function withBrief(desk: Desk, handoff: HandoffRecord, { briefId }: BriefRecord): HandoffRecord {
  return moveHandoff(desk, handoff, 'checked', { briefId, draft: null })
}

const WITH_BRIEF = new Set<HandoffRecord['state']>(['written', 'checked', 'review', 'waiting', 'clearing'])

/** A session was cleared and this one took its place in the seat: the brief goes with its first request. */
export function beginFresh(draft: Draft): void {
  const { parts, record, at } = draft
  const [handoff] = parts.store.openHandoffs({ seatId: record.seatId })
  if (!handoff || handoff.sessionId === record.sessionId) return
  const brief = handoff.briefId === null ? null : parts.store.brief(handoff.briefId)
  if (!WITH_BRIEF.has(handoff.state) || brief === null || handoff.state === 'review') {
    cancelHandoff(draft, handoff, 'the conversation was cleared')
    return
  }
  const body = parts.around().readBrief(parts, brief)
  if (body === null) {
    failHandoff(draft, handoff, `the brief in ${brief.path} is gone or was changed`)
    return
  }
  const ordered = handoff.state === 'clearing' && !withdraw(draft, handoff)
  const moved = moveHandoff(draft, handoff, 'confirmed', {
    newSessionId: record.sessionId,
    way: ordered ? handoff.way : 'start',
    dueAt: new Date(Date.parse(at) + PROMPT_MS).toISOString(),
  })
  if (handoff.state !== 'clearing')
    emit(draft, 'handoff_started', { handoff_id: moved.handoffId, brief_id: brief.briefId, way: moved.way, ...fieldsOf(moved) })
  parts.store.putBrief({ ...brief, status: 'used', usedAt: at, usedBySessionId: record.sessionId })
  record.handoffId = handoff.handoffId
  record.handoffs = (parts.store.session(handoff.sessionId)?.handoffs ?? 0) + 1
  record.lastHandoffPath = brief.path
  const text = resumeText({ ...brief, addenda: [], seatName: draft.seatName }, body, LONGEST_BRIEF)
  queue(
    draft,
    { category: 'brief', mode: 'urgent', agent_text: text, user_text: null },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  // Whoever cleared by hand does not have to type on.
  if (!ordered && record.attended === true && !typeOn(draft, moved) && draft.agent.order) goOn(draft, moved, brief)
}

function goOn(draft: Draft, handoff: HandoffRecord, brief: BriefRecord): void {
  const { parts, agent, record, at } = draft
  const orderId = `order_${parts.newId()}`
  const prompt = continuePrompt({ path: brief.path, sequence: brief.sequence, seatName: draft.seatName })
  const until = Date.parse(at) + PROMPT_MS
  parts.store.putHandoff({ ...handoff, orderId })
  parts.store.afterCommit(() =>
    agent.order!(parts.liveDir, { format: 1, orderId, session: record.sessionId, do: 'say', prompt, until }),
  )
}

/** What the fresh session does shows how far the handoff has come. */
export function followHandoff(draft: Draft): void {
  const { signal, record } = draft
  const handoff = openHandoff(draft)
  if (!handoff || handoff.newSessionId !== record.sessionId || signal.subagent) return
  const started = handoff.state === 'confirmed' && signal.kind === 'prompt' ? moveHandoff(draft, handoff, 'started') : handoff
  const works = signal.kind === 'tool-batch' || signal.kind === 'turn-end'
  if (!works || (started.state !== 'started' && started.state !== 'confirmed')) return
  const done = moveHandoff(draft, started, 'done')
  emit(draft, 'handoff_completed', { handoff_id: done.handoffId, brief_id: done.briefId, way: done.way, ...fieldsOf(done) })
}

/** The session ended, and not by a clear: what is written waits for the next start; what is not will not be. */
export function handOverAtSessionEnd(draft: Draft): void {
  const handoff = openHandoff(draft)
  if (handoff?.state === 'confirmed' && handoff.newSessionId === draft.record.sessionId) waitForNextStart(draft, handoff)
  if (!handoff || handoff.sessionId !== draft.record.sessionId || handoff.newSessionId !== null) return
  const brief = handoff.briefId === null ? null : draft.parts.store.brief(handoff.briefId)
  if (brief === null) cancelHandoff(draft, handoff, 'the session ended')
  else if (handoff.way !== 'start') {
    withdraw(draft, handoff)
    moveHandoff(draft, handoff, 'waiting', { way: 'start', orderId: null })
  }
}
