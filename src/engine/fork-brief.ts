import type { BriefRecord } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { findBrief } from '../handoff/find-brief.js'
import type { LeaveDesk } from './desk.js'
import type { Desk, Draft } from './draft.js'
import { lastLine } from './found-later.js'
import { cancelHandoff, hush, moveHandoff } from './handoffs.js'
import { leaveWhenIdle } from './leave-session.js'
import type { BriefGround } from './make-brief.js'
import { queue } from './messages.js'
import type { ReadFacts } from './read-facts.js'
import { beginReview } from './review.js'
import { isQuiet } from './wake.js'

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
export function mayFork({ policy, record }: Pick<Draft, 'policy' | 'record'>): boolean {
  return policy.handoff.fork && record.jobId === null && record.attended === true && record.transcriptPath !== null
}

export function wantFork(
  draft: Draft,
  handoff: HandoffRecord,
  { reason, given, upTo }: { reason: string; given: string | null; upTo: number },
): void {
  const { parts, record, at } = draft
  const fork = { since: at, tries: 0, upTo, reason, outcome: null }
  moveHandoff(draft, handoff, 'requested', { draft: given, fork, stale: false })
  const text =
    '[baton] The agent gave no brief that will do: a fork of this session writes it now, in a few minutes at most. Then the work goes on.'
  queue(
    draft,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  parts.store.afterCommit(() => parts.leaveWork('handoff'))
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
export function takeFork(desk: LeaveDesk, handoff: HandoffRecord, ground: BriefGround, given: ForkGiven): HandoffRecord {
  if (!desk.enabled) {
    cancelHandoff(desk, endedFork(handoff, 'not needed any more'), 'Baton was switched off')
    return desk.parts.store.handoff(handoff.handoffId)!
  }
  const body = findBrief(given.answer ?? '')
  const around = desk.parts.around()
  // What came after the fork was wanted cannot be in its brief.
  const facts = ground.facts.filter(({ line }) => line <= handoff.fork!.upTo)
  const coverage = body === null ? null : around.coverageOf(desk, { ...ground, facts }, body)
  const { bar } = desk.policy.handoff
  // A brief nothing could be compared with is taken as it is.
  const isEnough = body !== null && (coverage === null || coverage.score >= bar)
  const why =
    body === null ? given.why : `its brief carried ${percent(coverage?.score)} of what happened, and the bar is ${percent(bar)}`
  const ready = isEnough
    ? withFork(desk, handoff, ground, around.takeBrief(desk, ground, { body, author: 'fork', reason: handoff.reason, coverage }))
    : instead(desk, endedFork(handoff, why), ground)
  hush(desk, 'the brief is written')
  const { store } = desk.parts
  if (!beginReview(desk, ready.handoff, ready.brief)) leaveWhenIdle(desk, ready.handoff)
  return store.handoff(handoff.handoffId)!
}

/** Nobody waits for the fork any more. */
export function withoutFork(desk: Desk & { read: ReadFacts | null }, handoff: HandoffRecord, why: string): Ready {
  return instead(desk, endedFork(handoff, why), desk.parts.around().briefGround(desk))
}

export function endedFork(handoff: HandoffRecord, outcome: string): HandoffRecord {
  return handoff.fork ? { ...handoff, fork: { ...handoff.fork, outcome } } : handoff
}

interface Ready {
  handoff: HandoffRecord
  brief: BriefRecord
}

/** What the agent gave, though it is below the bar; else Baton's own. */
function instead(desk: Desk, handoff: HandoffRecord, ground: BriefGround): Ready {
  const around = desk.parts.around()
  const told = `${handoff.fork!.reason} A fork of its session was asked too: ${handoff.fork!.outcome}.`
  const brief =
    handoff.draft === null
      ? around.writeBrief(desk, ground, { reason: told, lastAnswer: null })
      : around.takeBrief(desk, ground, { body: handoff.draft, author: 'agent', reason: handoff.reason })
  return { handoff: goingOn(desk, withBrief(desk, handoff, brief, ground)), brief }
}

function withFork(desk: Desk, handoff: HandoffRecord, ground: BriefGround, brief: BriefRecord): Ready {
  const { upTo } = handoff.fork!
  const ready = withBrief(desk, endedFork(handoff, 'wrote'), brief, ground)
  // What came since it was wanted is not in it, and is added when the session is left.
  const stale = handoff.stale === true || lastLine(ground.facts) > upTo
  return { handoff: goingOn(desk, { ...ready, upTo, stale }), brief }
}

/** A turn that is under way goes on behind the brief. */
function goingOn(desk: Desk, handoff: HandoffRecord): HandoffRecord {
  const ready = { ...handoff, stale: handoff.stale === true || !isQuiet(desk) }
  desk.parts.store.putHandoff(ready)
  return ready
}

export function withBrief(
  desk: Pick<Desk, 'parts' | 'at'>,
  handoff: HandoffRecord,
  { briefId }: BriefRecord,
  { facts }: BriefGround,
): HandoffRecord {
  return moveHandoff(desk, handoff, 'checked', { briefId, draft: null, upTo: lastLine(facts), stale: false, offered: false })
}

const percent = (score: number | undefined): string => `${Math.floor((score ?? 0) * 100)}%`
