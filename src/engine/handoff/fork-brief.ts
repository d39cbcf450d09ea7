import { findBrief } from '../../briefs/find-brief.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { briefMaterial } from '../compaction/brief-sources.js'
import { lastLine } from '../compaction/late-findings.js'
import type { ReadFacts } from '../compaction/read-facts.js'
import type { SessionContext, SignalContext } from '../context.js'
import { queue } from '../messages/messages.js'
import { isQuiet } from '../messages/wake-idle-session.js'
import type { PolicyContext } from '../session-context.js'
import { applyEvent, cancelHandoff, updateHandoff } from './handoff-transitions.js'
import { cancelHandoffMessages } from './handoffs.js'
import { leaveWhenIdle } from './leave-session.js'
import { addQuestion, type BriefMaterial, coverageOf, takeBrief, writeBrief } from './make-brief.js'
import { beginReview } from './review.js'

/**
 * The agent was asked for its brief and gave none, or none worth the name. Where the configuration allows it, a fork of its session is
 * asked before Baton writes one itself:
 *
 *   wanted           the turn has ended; a process that no hook waits for is to run the fork (`drive-fork.ts`)
 *   it gave one      compared with the facts as any other, and used, if it is not below the bar
 *   it gave none     what the agent had given, completed; else Baton's own brief, which says so
 *   nobody waits     the session was cleared or has ended: the same, at once
 *
 * All the while the handoff is `requested`: whatever ends one that was asked for ends it too.
 */

/** Only where a person sits before it: a run without one has nobody who goes on. */
export function mayFork({ policy, record }: Pick<SignalContext, 'policy' | 'record'>): boolean {
  return policy.handoff.fork && record.jobId === null && record.attended === true && record.transcriptPath !== null
}

export function wantFork(
  context: SignalContext,
  handoff: HandoffRecord,
  { reason, given, upTo }: { reason: string; given: string | null; upTo: number },
): void {
  const { deps, record, at } = context
  const fork = { since: at, tries: 0, upTo, reason, outcome: null }
  if (applyEvent(context, handoff, 'fork-wanted', { draft: given, fork, stale: false }) === null) return
  const text =
    '[baton] The agent gave no brief that will do: a fork of this session writes it now, in a few minutes at most. Then the work goes on.'
  queue(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  deps.store.afterCommit(() => deps.leaveWork('handoff'))
}

export interface ForkGiven {
  /** Its whole answer; null: there is none. */
  answer: string | null
  /** Why there is none, in half a sentence: words of Baton's own. */
  why: string
  /** Nobody will try again. */
  isLast?: boolean
}

/** The fork has answered, or will not. The session is left, or its brief reviewed. Inside a transaction. */
export function takeFork(
  context: PolicyContext,
  handoff: HandoffRecord,
  known: BriefMaterial,
  given: ForkGiven,
): HandoffRecord {
  const material = addQuestion(known, handoff)
  if (!context.enabled) {
    cancelHandoff(context, endedFork(handoff, 'not needed any more'), 'Baton was switched off')
    return context.deps.store.handoff(handoff.handoffId)!
  }
  const body = findBrief(given.answer ?? '')
  // What came after the fork was wanted cannot be in its brief.
  const facts = material.facts.filter(({ line }) => line <= handoff.fork!.upTo)
  const coverage = body === null ? null : coverageOf(context, { ...material, facts }, body)
  const { bar } = context.policy.handoff
  // A brief nothing could be compared with is taken as it is.
  const isEnough = body !== null && (coverage === null || coverage.score >= bar)
  const why =
    body === null
      ? given.why
      : `its brief carried ${percent(coverage?.score)} of what happened, and the bar is ${percent(bar)}`
  const ready = isEnough
    ? withFork(
        context,
        handoff,
        material,
        takeBrief(context, material, { body, author: 'fork', reason: handoff.reason, coverage }),
      )
    : fallbackBrief(context, endedFork(handoff, why), material)
  cancelHandoffMessages(context, 'the brief is written')
  const { store } = context.deps
  if (!beginReview(context, ready.handoff, ready.brief)) leaveWhenIdle(context, ready.handoff)
  return store.handoff(handoff.handoffId)!
}

/** Nobody waits for the fork any more. */
export function withoutFork(
  context: SessionContext & { read: ReadFacts | null },
  handoff: HandoffRecord,
  why: string,
): Ready {
  return fallbackBrief(context, endedFork(handoff, why), addQuestion(briefMaterial(context), handoff))
}

export function endedFork(handoff: HandoffRecord, outcome: string): HandoffRecord {
  return handoff.fork ? { ...handoff, fork: { ...handoff.fork, outcome } } : handoff
}

interface Ready {
  handoff: HandoffRecord
  brief: BriefRecord
}

/** What the agent gave, though it is below the bar; else Baton's own. */
function fallbackBrief(context: SessionContext, handoff: HandoffRecord, material: BriefMaterial): Ready {
  const reason = `${handoff.fork!.reason} A fork of its session was asked too: ${handoff.fork!.outcome}.`
  const brief =
    handoff.draft === null
      ? writeBrief(context, material, { reason, lastAnswer: null })
      : takeBrief(context, material, { body: handoff.draft, author: 'agent', reason: handoff.reason })
  return { handoff: markStaleIfWorking(context, withBrief(context, handoff, brief, material)), brief }
}

function withFork(context: SessionContext, handoff: HandoffRecord, material: BriefMaterial, brief: BriefRecord): Ready {
  const { upTo } = handoff.fork!
  const ready = withBrief(context, endedFork(handoff, 'wrote'), brief, material)
  // What came since it was wanted is not in it, and is added when the session is left.
  const stale = handoff.stale === true || lastLine(material.facts) > upTo
  return { handoff: markStaleIfWorking(context, { ...ready, upTo, stale }), brief }
}

/** A turn that is under way goes on behind the brief. */
function markStaleIfWorking(context: SessionContext, handoff: HandoffRecord): HandoffRecord {
  return updateHandoff(context, handoff, { stale: handoff.stale === true || !isQuiet(context) })
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
