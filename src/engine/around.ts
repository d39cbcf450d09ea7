import type { BriefRecord } from '../contract/brief.js'
import type { Event } from '../contract/event.js'
import type { SessionRecord } from '../contract/record.js'
import type { Signal } from '../contract/signal.js'
import { beginFresh } from './begin-fresh.js'
import { catchUp } from './catch-up.js'
import type { Draft, Parts } from './draft.js'
import { askForBrief, blockAndHandOver, followHandoff, handOverAtSessionEnd, handOverAtTurnEnd, takeTyped } from './hand-over.js'
import { stopHandoff } from './handoffs.js'
import { type KeepDesk, keepBefore, keptForNothing, readAhead, readLeft, recoverFirst, recoverSecond } from './keeping.js'
import { factsOf, groundFor, type Known } from './known.js'
import { lookAtDue, lookAtOrder } from './look-at-due.js'
import { type BriefGround, type BriefKeeper, coverageOf, type LateFinding, takeBrief, writeBrief } from './make-brief.js'
import { offerAtResume, offerOld } from './offer-briefs.js'
import type { Readers, ReadFacts } from './read-facts.js'
import { unlessKeyless } from './without-key.js'

/** Everything around compactions that reads transcripts, in one piece, so that a hook can leave it unloaded. */
export interface Around {
  /** The facts a compaction may drop, or a brief is compared with, before the store is locked. */
  readAhead(parts: Parts, signal: Signal): ReadFacts | null
  /** The same of a session whose work went on since its brief was written; null: there is nothing to read. */
  readLeft(parts: Parts, sessionId: string): ReadFacts | null
  /** The same for whoever has the time. */
  factsOf(parts: Parts, of: Pick<SessionRecord, 'sessionId' | 'agent' | 'transcriptPath'>): ReadFacts
  keepBefore(draft: Draft, trigger: 'auto' | 'manual'): void
  /** `summary`: where it is known already, what it lacks is put back in the same breath. */
  recoverFirst(desk: KeepDesk, summary: string | null): void
  recoverSecond(desk: KeepDesk, summary: string | null): void
  keptForNothing(desk: KeepDesk, outcome: string): void
  catchUp(parts: Parts): Event[]
  /** A handoff with the signals of a session (see `hand-over.ts`). */
  askForBrief: typeof askForBrief
  blockAndHandOver: typeof blockAndHandOver
  takeTyped: typeof takeTyped
  followHandoff: typeof followHandoff
  handOverAtTurnEnd: typeof handOverAtTurnEnd
  handOverAtSessionEnd: typeof handOverAtSessionEnd
  beginFresh: typeof beginFresh
  offerOld: typeof offerOld
  offerAtResume: typeof offerAtResume
  lookAtDue: typeof lookAtDue
  lookAtOrder: typeof lookAtOrder
  stopHandoff: typeof stopHandoff
  /** What a brief of this session is made from. */
  briefGround(of: Pick<Draft, 'parts' | 'record' | 'read'>): BriefGround
  coverageOf: typeof coverageOf
  takeBrief: typeof takeBrief
  writeBrief: typeof writeBrief
  /** null: it is gone, or somebody has changed it. */
  readBrief(parts: Parts, brief: BriefRecord): string | null
  /** What was found after it was written, oldest first. */
  readLate(parts: Parts, brief: BriefRecord): LateFinding[]
}

export function makeAround(
  readers: Readers,
  keeperOf: (parts: Parts) => BriefKeeper,
  repository: Known['repository'],
  program: string,
  elapsed: () => number,
): Around {
  const known: Known = { readers, program, repository, keeperOf, elapsed }
  return {
    readAhead: (parts, signal) => readAhead(known, parts, signal),
    readLeft: (parts, sessionId) => readLeft(known, parts, sessionId),
    factsOf: (parts, of) => factsOf(known, parts, of),
    keepBefore: (draft, trigger) => keepBefore(known, draft, trigger),
    recoverFirst: (desk, summary) => recoverFirst(known, desk, summary),
    recoverSecond: (desk, summary) => recoverSecond(readers, desk, summary),
    keptForNothing,
    catchUp: (parts) => catchUp(known, parts),
    briefGround: (draft) => groundFor(known, draft),
    ...{
      askForBrief,
      blockAndHandOver: unlessKeyless(blockAndHandOver),
      takeTyped,
      followHandoff,
      handOverAtTurnEnd: unlessKeyless(handOverAtTurnEnd),
      handOverAtSessionEnd,
      beginFresh: unlessKeyless(beginFresh),
      offerOld,
      offerAtResume,
      lookAtDue,
      lookAtOrder,
      stopHandoff,
    },
    coverageOf,
    takeBrief,
    writeBrief,
    readBrief: (parts, brief) => keeperOf(parts).read(brief),
    readLate: (parts, brief) => keeperOf(parts).late(brief),
  }
}
