import { findBrief } from '../../briefs/find-brief.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { briefMaterial } from '../compaction/brief-sources.js'
import { lastLine } from '../compaction/late-findings.js'
import type { ReadFacts } from '../compaction/read-facts.js'
import type { SessionContext, SignalContext } from '../context.js'
import { queueMessage } from '../messages/messages.js'
import { isIdle } from '../messages/wake-idle-session.js'
import type { PolicyContext } from '../session-context.js'
import { applyEvent, cancelHandoff, updateHandoff } from './handoff-transitions.js'
import { cancelHandoffMessages } from './handoffs.js'
import { leaveWhenIdle } from './leave-session.js'
import { addQuestion, type BriefMaterial, coverageOf, storeGivenBrief, storeMechanicalBrief } from './make-brief.js'
import { beginReview } from './review.js'

/**
 * Briefs written by a fork of the session (a copy that is asked once), where configured.
 * Baton asks a fork if the agent gave no brief or a poor one, before Baton writes a brief itself:
 *
 * wanted           the turn has ended; a background process runs the fork (`drive-fork.ts`)
 * a brief          is compared with the facts like any other, and used unless it is below the bar
 * no brief         the agent's own brief is completed and used; without it, Baton writes one
 * not needed       the session was cleared or has ended: as with no brief, at once
 *
 * The handoff stays `requested` meanwhile. Everything that ends a request also ends the fork.
 */

/** True for attended sessions only: a headless run has no user to continue it. */
export function mayFork({ policy, record }: Pick<SignalContext, 'policy' | 'record'>): boolean {
  return policy.handoff.fork && record.jobId === null && record.attended === true && record.transcriptPath !== null
}

export function requestFork(
  context: SignalContext,
  handoff: HandoffRecord,
  { reason, given, upTo }: { reason: string; given: string | null; upTo: number },
): void {
  const { deps, record, at } = context
  const fork = { since: at, tries: 0, upTo, reason, outcome: null }
  if (applyEvent(context, handoff, 'fork-wanted', { draft: given, fork, stale: false }) === null) return
  const text = '[baton] The agent gave no usable brief. A fork of this session writes it now, within a few minutes.'
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  deps.store.afterCommit(() => deps.leaveWork('handoff'))
}

export interface ForkResult {
  /** The fork's whole answer. Null when there is none. */
  answer: string | null
  /** Reason for a missing answer, as a half sentence in Baton's own words. */
  why: string
  /** True when no further fork will be tried. */
  isLast?: boolean
}

/**
 * Applies the fork's result: leaves the session for a fresh one, or begins the brief's review.
 * Call the function inside a transaction.
 */
export function applyForkResult(
  context: PolicyContext,
  handoff: HandoffRecord,
  known: BriefMaterial,
  given: ForkResult,
): HandoffRecord {
  const material = addQuestion(known, handoff)
  if (!context.enabled) {
    cancelHandoff(context, withForkOutcome(handoff, 'no longer needed'), 'Baton was switched off')
    return context.deps.store.handoff(handoff.handoffId)!
  }
  const body = findBrief(given.answer ?? '')
  // The fork cannot know facts that came after it was requested.
  const facts = material.facts.filter(({ line }) => line <= handoff.fork!.upTo)
  const coverage = body === null ? null : coverageOf(context, { ...material, facts }, body)
  const { bar } = context.policy.handoff
  // A brief that cannot be compared with facts is accepted as it is.
  const isEnough = body !== null && (coverage === null || coverage.score >= bar)
  const why =
    body === null
      ? given.why
      : `its brief covered ${percent(coverage?.score)} of the facts, and the minimum is ${percent(bar)}`
  const ready = isEnough
    ? withFork(
        context,
        handoff,
        material,
        storeGivenBrief(context, material, { body, author: 'fork', reason: handoff.reason, coverage }),
      )
    : fallbackBrief(context, withForkOutcome(handoff, why), material)
  cancelHandoffMessages(context, 'the brief is written')
  const { store } = context.deps
  if (!beginReview(context, ready.handoff, ready.brief)) leaveWhenIdle(context, ready.handoff)
  return store.handoff(handoff.handoffId)!
}

/** Ends a fork that is no longer needed. Returns the brief to use instead of the fork's. */
export function endUnneededFork(
  context: SessionContext & { read: ReadFacts | null },
  handoff: HandoffRecord,
  why: string,
): Ready {
  return fallbackBrief(context, withForkOutcome(handoff, why), addQuestion(briefMaterial(context), handoff))
}

export function withForkOutcome(handoff: HandoffRecord, outcome: string): HandoffRecord {
  return handoff.fork ? { ...handoff, fork: { ...handoff.fork, outcome } } : handoff
}

interface Ready {
  handoff: HandoffRecord
  brief: BriefRecord
}

/** Uses the agent's brief although its coverage is below the required one, or else Baton's own. */
function fallbackBrief(context: SessionContext, handoff: HandoffRecord, material: BriefMaterial): Ready {
  const reason = `${handoff.fork!.reason} A fork of the session gave no usable brief either: ${handoff.fork!.outcome}.`
  const brief =
    handoff.draft === null
      ? storeMechanicalBrief(context, material, { reason, lastAnswer: null })
      : storeGivenBrief(context, material, { body: handoff.draft, author: 'agent', reason: handoff.reason })
  return { handoff: markStaleIfWorking(context, withBrief(context, handoff, brief, material)), brief }
}

function withFork(context: SessionContext, handoff: HandoffRecord, material: BriefMaterial, brief: BriefRecord): Ready {
  const { upTo } = handoff.fork!
  const ready = withBrief(context, withForkOutcome(handoff, 'wrote'), brief, material)
  // Later work is not in the brief. It is added when the session is left for a fresh one.
  const stale = handoff.stale === true || lastLine(material.facts) > upTo
  return { handoff: markStaleIfWorking(context, { ...ready, upTo, stale }), brief }
}

/** Marks the brief as stale if a turn is running. */
function markStaleIfWorking(context: SessionContext, handoff: HandoffRecord): HandoffRecord {
  return updateHandoff(context, handoff, { stale: handoff.stale === true || !isIdle(context) })
}

export function withBrief(
  context: SessionContext,
  handoff: HandoffRecord,
  { briefId }: BriefRecord,
  { facts }: BriefMaterial,
): HandoffRecord {
  const change = { briefId, draft: null, upTo: lastLine(facts), stale: false, offered: false }
  return applyEvent(context, handoff, 'brief-kept', change) ?? handoff
}

const percent = (score: number | undefined): string => `${Math.floor((score ?? 0) * 100)}%`
