import { toOneLine } from '../../briefs/format-lines.js'
import { requestText } from '../../briefs/request-text.js'
import type { BriefRecord, Coverage } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { closingQuestion } from '../../facts/questions.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { guardHandoff } from '../../policy/guards.js'
import { readFactsForBrief } from '../compaction/around-compaction.js'
import { briefMaterial } from '../compaction/brief-sources.js'
import type { ReadFacts } from '../compaction/read-facts.js'
import type { EngineDependencies, SessionContext } from '../context.js'
import { recentHandoffs } from '../messages/level-warnings.js'
import { queueMessage } from '../messages/messages.js'
import { fallbackOnError } from '../messages/ready-messages.js'
import { isIdle } from '../messages/wake-idle-session.js'
import { knownSessionContext, type PolicyContext } from '../session-context.js'
import { type Caller, type Role, requireReviewer, requireRole } from './authorize-caller.js'
import { refuseAwaitedBrief } from './briefs-on-request.js'
import { withBrief } from './fork-brief.js'
import {
  applyEvent,
  arriveHandoff,
  beginHandoff,
  cancelHandoff,
  type HandoffRequest,
  updateHandoff,
} from './handoff-transitions.js'
import { cancelHandoffMessages, handoffsHere, withdrawClearOrder } from './handoffs.js'
import { isClientRunning, leaveWhenIdle } from './leave-session.js'
import { type BriefMaterial, coverageOf, storeGivenBrief } from './make-brief.js'
import { beginReview, continueApproved, extendReview, reopenedReviewEnd } from './review.js'

/**
 * Handoff commands of users and agents, which need no signal of the session.
 * Every command is one transaction that changes everything, or throws a BatonError.
 * An idle session is told or cleared at once, a working one at its next signal (`hand-over.ts`).
 */

export interface OfferedBrief {
  brief: BriefRecord
  handoff: HandoffRecord
}

/**
 * Accepts a brief for a session: checks, completes and stores the brief.
 * The brief is used at the end of the turn, after a configured review. The last brief given counts.
 */
export function offerBrief(
  deps: EngineDependencies,
  asked: { sessionId: string; caller: Caller; reason: string | null; body: string; read: ReadFacts },
): OfferedBrief {
  const role = requireRole(deps.store, asked.caller, knownSessionContext(deps, asked.sessionId).record)
  const material = materialOf(deps, asked.sessionId, asked.read)
  return deps.store.transaction(() => {
    const context = knownSessionContext(deps, asked.sessionId)
    const { record } = context
    const open = handoffsHere(context)
    const wanted = open.find((one) => one.sessionId === record.sessionId && one.newSessionId === null) ?? null
    refuseLeft(context, 'baton handoff <file> --session')
    refuseOff(context)
    finishEarlier(context, open)
    if (wanted === null) refuseGuarded(context, role)
    for (const one of open) refuseBegun(context, one)
    const given = {
      body: asked.body,
      author: role === 'user' ? ('user' as const) : ('agent' as const),
      reason: asked.reason,
    }
    const brief = withoutUnreadCoverage(context, storeGivenBrief(context, material, given), asked.read)
    const replaced = open.flatMap(({ briefId }) => briefId ?? [])
    const handoff = wanted
      ? applyToRequest(context, wanted, role, asked.reason)
      : beginHandoff(context, causeOf(role, asked.reason))
    const ready = withBrief(context, { ...handoff, way: null, orderId: null }, brief, material)
    // A running turn continues after the brief.
    // The turn's later work is added when the session is cleared.
    const stale = isClientRunning(context) && (role === 'agent' || !isIdle(context))
    const checked = updateHandoff(context, ready, { stale })
    for (const id of replaced) supersede(deps, id)
    deps.store.putSession(record)
    if (beginReview(context, checked, brief)) return current(deps, { brief, handoff: checked })
    // An agent that gives its own brief has a turn to end first.
    return { brief, handoff: role === 'agent' && isClientRunning(context) ? checked : leaveWhenIdle(context, checked) }
  })
}

/** Asks the agent of a session for its brief. */
export function requestBrief(
  deps: EngineDependencies,
  asked: { sessionId: string; caller: Caller; reason: string | null },
): HandoffRecord {
  // Read the facts before the store is locked. An idle session may wait for the user's answer.
  const idle = isIdle(knownSessionContext(deps, asked.sessionId)) ? readFactsForBrief(deps, asked.sessionId) : null
  const question = closingQuestion(idle?.lastAnswer ?? '')
  return deps.store.transaction(() => {
    const context = knownSessionContext(deps, asked.sessionId)
    const { record, agent } = context
    const role = requireRole(deps.store, asked.caller, record)
    refuseLeft(context, 'baton handoffs request')
    refuseOff(context)
    if (!isClientRunning(context))
      throw new BatonError(
        `Session ${record.sessionId.slice(0, 8)} has ended, so its agent cannot write a brief.`,
        'Give a brief for it yourself: baton handoff <file> --session ID.',
        EXIT.refused,
      )
    const open = handoffsHere(context)
    finishEarlier(context, open)
    refuseGuarded(context, role)
    for (const one of open) refuseBegun(context, one)
    const handoff = beginHandoff(context, causeOf(role, asked.reason))
    const seatName = deps.store.seat(record.seatId)?.name ?? null
    const why = asked.reason === null ? '' : `\n\nReason: ${toOneLine(asked.reason, 500)}`
    queueMessage(
      context,
      { category: 'handoff', mode: 'urgent', agent_text: `${requestText({ seatName })}${why}`, user_text: null },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
    const requested = updateHandoff(context, handoff, { asked: 1, question })
    deps.store.putSession(record)
    // The end of the turn must wait for the engine, which then reads the agent's answer.
    deps.store.afterCommit(() =>
      fallbackOnError(context, undefined, () =>
        deps.outbox.markNear(record.sessionId, [...agent.carriers.slice(0, 1), ...agent.turnEnds]),
      ),
    )
    return requested
  })
}

/** Cancels an open handoff. Its brief will not be used. */
export function dropHandoff(deps: EngineDependencies, asked: { handoffId: string; caller: Caller }): HandoffRecord {
  return deps.store.transaction(() => {
    const handoff = deps.store.handoff(asked.handoffId)!
    const context = knownSessionContext(deps, handoff.sessionId)
    const role = requireRole(deps.store, asked.caller, context.record)
    if (
      handoff.newSessionId !== null ||
      !deps.store.openHandoffs({ seatId: handoff.seatId }).some((h) => sameAs(h, handoff))
    )
      throw new BatonError(
        handoff.newSessionId === null
          ? `That handoff is over (${handoff.state}).`
          : 'The fresh session has already started.',
        'baton handoffs list --all shows its result.',
        EXIT.refused,
      )
    refuseBegun(context, handoff)
    cancelHandoff(context, handoff, role === 'user' ? 'the user cancelled it' : `the ${role} cancelled it`)
    return deps.store.handoff(handoff.handoffId)!
  })
}

/** Cancels a brief that belongs to no handoff. */
export function dropBrief(deps: EngineDependencies, asked: { briefId: string; caller: Caller }): BriefRecord {
  return deps.store.transaction(() => {
    const brief = deps.store.brief(asked.briefId)!
    requireRole(deps.store, asked.caller, brief)
    refuseUsed(brief)
    refuseAwaitedBrief(deps, brief)
    const dropped: BriefRecord = { ...brief, status: brief.status === 'superseded' ? 'superseded' : 'cancelled' }
    deps.store.putBrief(dropped)
    return dropped
  })
}

/** Next step of a handoff by state, where no approval is needed. */
const NEXT: Partial<Record<HandoffRecord['state'], string>> = {
  checked: 'a fresh session starts from it after this turn',
  waiting: 'the next /clear in its session, or the next start in its folder, uses it',
  clearing: 'its session is cleared as soon as it is idle and its composer is empty',
}

/** Approves a brief under review. */
export function approveBrief(deps: EngineDependencies, asked: { briefId: string; caller: Caller }): OfferedBrief {
  // Read the facts before the store is locked. A stale brief is completed from the transcript.
  const waits = handoffOf(deps, deps.store.brief(asked.briefId)!)
  const read = waits?.state === 'review' && waits.stale ? readFactsForBrief(deps, waits.sessionId) : null
  return deps.store.transaction(() => {
    const brief = deps.store.brief(asked.briefId)!
    const context = Object.assign(knownSessionContext(deps, brief.sessionId), { read })
    requireReviewer(deps.store, asked.caller, context.record)
    const handoff = handoffOf(deps, brief)
    if (handoff && brief.status === 'approved') return { brief, handoff }
    if (handoff?.state !== 'review')
      throw new BatonError(
        `${brief.briefId} does not wait for a review (status: ${brief.status}).`,
        handoff
          ? `It needs no approval: ${NEXT[handoff.state] ?? 'its handoff continues without you'}.`
          : `Details: baton handoffs show ${brief.briefId}`,
        EXIT.refused,
      )
    const approved: BriefRecord = { ...brief, status: 'approved' }
    deps.store.putBrief(approved)
    return { brief: approved, handoff: continueApproved(context, handoff) }
  })
}

/**
 * Stores an edited brief in place of the original. Text that the user deleted is not added again.
 */
export function reviseBrief(
  deps: EngineDependencies,
  asked: { briefId: string; caller: Caller; body: string; read: ReadFacts },
): { brief: BriefRecord; handoff: HandoffRecord | null } {
  const material = materialOf(deps, deps.store.brief(asked.briefId)!.sessionId, asked.read)
  return deps.store.transaction(() => {
    const old = deps.store.brief(asked.briefId)!
    const context = knownSessionContext(deps, old.sessionId)
    requireReviewer(deps.store, asked.caller, context.record)
    refuseUsed(old)
    refuseAwaitedBrief(deps, old)
    refuseReplaced(deps, old)
    const handoff = handoffOf(deps, old)
    if (handoff) refuseBegun(context, handoff)
    const coverage = coverageOf(context, material, asked.body)
    const whole: Coverage | null = coverage && { ...coverage, missing: [], unsupported: [], claims: [] }
    const given = { body: asked.body, author: 'user' as const, reason: old.reason, coverage: whole }
    const kept = withoutUnreadCoverage(context, { ...storeGivenBrief(context, material, given), coverage }, asked.read)
    const status = old.status === 'review' || old.status === 'approved' ? old.status : kept.status
    const brief: BriefRecord = { ...kept, status }
    deps.store.putBrief(brief)
    supersede(deps, old.briefId)
    if (!handoff) return { brief, handoff }
    const { briefId } = brief
    if (handoff.state === 'review') {
      const change = { briefId, dueAt: reopenedReviewEnd(context, handoff) }
      return { brief, handoff: applyEvent(context, handoff, 'brief-edited', change) ?? handoff }
    }
    // The order to clear names its brief, so the order with the replaced brief was withdrawn.
    return { brief, handoff: leaveWhenIdle(context, { ...handoff, briefId }) }
  })
}

/** Holds a brief back while the user edits it. */
export function beginEditing(deps: EngineDependencies, briefId: string): void {
  deps.store.transaction(() => {
    const brief = deps.store.brief(briefId)!
    const handoff = handoffOf(deps, brief)
    if (handoff) extendReview(knownSessionContext(deps, handoff.sessionId), handoff)
  })
}

/** Ends editing without a change. */
export function endEditing(deps: EngineDependencies, briefId: string): void {
  deps.store.transaction(() => {
    const handoff = handoffOf(deps, deps.store.brief(briefId)!)
    if (handoff?.state !== 'review') return
    updateHandoff({ deps }, handoff, {
      dueAt: reopenedReviewEnd(knownSessionContext(deps, handoff.sessionId), handoff),
    })
  })
}

/**
 * Returns how much of a session a text covers. Changes nothing.
 * The caller ensures that the transcript can be read.
 */
export function checkCoverageOf(
  deps: EngineDependencies,
  asked: { sessionId: string; body: string; read: ReadFacts },
): Coverage {
  const material = materialOf(deps, asked.sessionId, asked.read)
  return coverageOf(knownSessionContext(deps, asked.sessionId), { ...material, whole: true }, asked.body)!
}

/**
 * Returns the sources for a brief.
 * Reads a repository, so call the function outside of transactions.
 */
function materialOf(deps: EngineDependencies, sessionId: string, read: ReadFacts): BriefMaterial {
  return briefMaterial({ ...knownSessionContext(deps, sessionId), read })
}

/** Removes the coverage of a brief whose transcript could not be read. */
function withoutUnreadCoverage({ deps }: SessionContext, brief: BriefRecord, read: ReadFacts): BriefRecord {
  if (read.trouble === null) return brief
  const unchecked = { ...brief, coverage: null }
  deps.store.putBrief(unchecked)
  return unchecked
}

function causeOf(role: Role, reason: string | null): HandoffRequest {
  return { cause: role, level: null, reason, unattended: role !== 'user' }
}

/** Applies a brief to the open request. The original cause stays, unless the user takes over. */
function applyToRequest(
  context: PolicyContext,
  wanted: HandoffRecord,
  role: Role,
  reason: string | null,
): HandoffRecord {
  cancelHandoffMessages(context, 'the agent gave its brief')
  context.record.handoffId = wanted.handoffId
  const byHand = role === 'user' ? { cause: role, unattended: false } : {}
  return { ...wanted, ...byHand, reason: reason ?? wanted.reason }
}

/** Ends an earlier handoff. A session that requests the next one has evidently started. */
function finishEarlier(context: PolicyContext, open: readonly HandoffRecord[]): void {
  for (const handoff of open) {
    if (handoff.newSessionId !== null) arriveHandoff(context, handoff)
  }
}

/**
 * Throws if the client has begun to clear the session.
 * Call this function last, because an order that it withdraws stays withdrawn.
 */
function refuseBegun(context: PolicyContext, handoff: HandoffRecord): void {
  if (handoff.state !== 'clearing') return
  if (withdrawClearOrder(context, handoff)) return
  throw new BatonError(
    `Session ${handoff.sessionId.slice(0, 8)} is being cleared now.`,
    'Its brief goes to the fresh session. baton status shows that session in a moment.',
    EXIT.refused,
  )
}

/** Throws if another session has taken the seat. */
function refuseLeft({ deps, record }: PolicyContext, command: string): void {
  const later = deps.store.chain(record.seatId).findLast((one) => one.seenAt > record.seenAt)
  if (record.state !== 'ended' || !later) return
  throw new BatonError(
    `Session ${record.sessionId.slice(0, 8)} has ended. ${later.sessionId.slice(0, 8)} replaced it in the seat.`,
    `Name the new session: ${command} ${later.sessionId.slice(0, 8)}`,
    EXIT.refused,
  )
}

function refuseOff({ record, enabled }: PolicyContext): void {
  if (enabled) return
  const id = record.sessionId.slice(0, 8)
  throw new BatonError(`Baton is off for session ${id}.`, `Turn it on: baton on ${id}`, EXIT.refused)
}

/** Throws if a rule against endless handoffs by agents applies. Users are never stopped. */
function refuseGuarded(context: PolicyContext, role: Role): void {
  if (role === 'user') return
  const { deps, record } = context
  const seat = deps.store.seat(record.seatId)?.name ?? record.seatId
  const { policy } = deps.policyOf({ agent: record.agent, project: record.project, model: record.model, seat })
  const guard = guardHandoff(record.track, policy.guards, recentHandoffs(context))
  if (guard === null) return
  throw new BatonError(
    `A guard stops this handoff (guards.${guard.name}): ${guard.reason}.`,
    `Only the user can request it now: /handoff, or baton handoffs request ${record.sessionId.slice(0, 8)}`,
    EXIT.refused,
    { guard: guard.name },
  )
}

function refuseUsed(brief: BriefRecord): void {
  if (brief.status !== 'used') return
  throw new BatonError(
    `${brief.briefId} is in use: session ${brief.usedBySessionId?.slice(0, 8) ?? 'unknown'} started from it.`,
    'Send that session a message with the change, or request its own handoff.',
    EXIT.refused,
  )
}

const REPLACED_OR_DROPPED = new Set<BriefRecord['status']>(['superseded', 'cancelled', 'failed'])

/** Throws if the brief was replaced or cancelled while the user edited it. */
function refuseReplaced({ store }: EngineDependencies, brief: BriefRecord): void {
  if (!REPLACED_OR_DROPPED.has(brief.status)) return
  const later = store
    .briefs({ sessionId: brief.sessionId })
    .findLast((one) => one.sequence > brief.sequence && !REPLACED_OR_DROPPED.has(one.status))
  const replaced = brief.status === 'superseded' && later ? later.briefId : null
  throw new BatonError(
    replaced ? `${replaced} replaced ${brief.briefId} meanwhile.` : `${brief.briefId} is now ${brief.status}.`,
    replaced
      ? `Edit the new brief: baton handoffs edit ${replaced}`
      : `Use your text as a new brief: baton handoff <file> --session ${brief.sessionId.slice(0, 8)}`,
    EXIT.refused,
  )
}

function supersede(deps: EngineDependencies, briefId: string): void {
  const brief = deps.store.brief(briefId)
  if (brief && brief.status !== 'used') deps.store.putBrief({ ...brief, status: 'superseded' })
}

/** Returns brief and handoff as stored now. */
function current({ store }: EngineDependencies, { brief, handoff }: OfferedBrief): OfferedBrief {
  return { brief: store.brief(brief.briefId)!, handoff: store.handoff(handoff.handoffId)! }
}

const sameAs = (a: HandoffRecord, b: HandoffRecord): boolean => a.handoffId === b.handoffId

function handoffOf(deps: EngineDependencies, brief: BriefRecord): HandoffRecord | null {
  return deps.store.openHandoffs({ seatId: brief.seatId }).find(({ briefId }) => briefId === brief.briefId) ?? null
}
