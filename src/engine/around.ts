import type { BriefRecord } from '../contract/brief.js'
import type { Event } from '../contract/event.js'
import type { Signal } from '../contract/signal.js'
import type { Repository } from '../handoff/mechanical-brief.js'
import type { Store } from '../store/store.js'
import { catchUp } from './catch-up.js'
import type { Draft, Parts } from './draft.js'
import {
  askForBrief,
  beginFresh,
  blockAndHandOver,
  followHandoff,
  handOverAtSessionEnd,
  handOverAtTurnEnd,
  takeTyped,
} from './hand-over.js'
import { type KeepDesk, keepBefore, keptForNothing, readAhead, recoverFirst, recoverSecond } from './keeping.js'
import { lookAtDue } from './look-at-due.js'
import { type BriefGround, type BriefKeeper, coverageOf, takeBrief, writeBrief } from './make-brief.js'
import { type Readers, type ReadFacts, readFacts } from './read-facts.js'

/** Everything around compactions that reads transcripts, in one piece, so that a hook can leave it unloaded. */
export interface Around {
  readAhead(store: Store, signal: Signal): ReadFacts | null
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
  lookAtDue: typeof lookAtDue
  /** What a brief of this session is made from. */
  briefGround(of: Pick<Draft, 'parts' | 'record' | 'read'>): BriefGround
  coverageOf: typeof coverageOf
  takeBrief: typeof takeBrief
  writeBrief: typeof writeBrief
  /** null: it is gone, or somebody has changed it. */
  readBrief(parts: Parts, brief: BriefRecord): string | null
  /** What was found after it was written, oldest first. */
  readLate(parts: Parts, brief: BriefRecord): string[]
}

export function makeAround(
  readers: Readers,
  keeperOf: (parts: Parts) => BriefKeeper,
  repository: (folder: string) => Repository | null,
): Around {
  return {
    readAhead: (store, signal) => readAhead(readers, store, signal),
    keepBefore,
    recoverFirst: (desk, summary) => recoverFirst(readers, desk, summary),
    recoverSecond: (desk, summary) => recoverSecond(readers, desk, summary),
    keptForNothing,
    catchUp: (parts) => catchUp(readers, parts),
    briefGround: (draft) => groundFor(readers, keeperOf(draft.parts), repository, draft),
    ...{
      askForBrief,
      blockAndHandOver,
      takeTyped,
      followHandoff,
      handOverAtTurnEnd,
      handOverAtSessionEnd,
      beginFresh,
      lookAtDue,
    },
    coverageOf,
    takeBrief,
    writeBrief,
    readBrief: (parts, brief) => keeperOf(parts).read(brief),
    readLate: (parts, brief) => keeperOf(parts).late(brief),
  }
}

/** Long transcripts are read as far as a turn's end can wait for it. */
const GROUND_MS = 1_500

function groundFor(
  readers: Readers,
  keeper: BriefKeeper,
  repository: (folder: string) => Repository | null,
  { record, read }: Pick<Draft, 'record' | 'read'>,
): BriefGround {
  const found = read ?? readFacts(readers, record.agent, record.transcriptPath, { withinMs: GROUND_MS })
  const folder = record.cwd ?? record.project
  return { keeper, facts: found.facts, repository: folder === null ? null : repository(folder) }
}
