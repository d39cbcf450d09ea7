import type { SessionRecord } from '../contract/record.js'
import type { Repository } from '../handoff/mechanical-brief.js'
import type { Draft, Parts } from './draft.js'
import { KEEP_EVERY } from './late-work.js'
import type { BriefGround, BriefKeeper } from './make-brief.js'
import { type Keeping, type Readers, type ReadFacts, readFacts } from './read-facts.js'

/** What is known of a session beside the store: its transcript, its repository, its briefs. `around.ts` of the house joins it. */
export interface Known {
  readers: Readers
  /** Which program reads: facts another one kept are read anew. */
  program: string
  /** null: there is none, or it could not be looked at in time. */
  repository(folder: string, withinMs?: number): Repository | null
  keeperOf(parts: Parts): BriefKeeper
  /** Milliseconds that only rise, to tell how long something took. */
  elapsed(): number
}

/** How long the end of a turn waits for its transcript to be read. */
export const GROUND_MS = 1_500

type Whose = Pick<SessionRecord, 'sessionId' | 'agent' | 'transcriptPath'>

/** Of somebody who waits: what is read is not kept. */
export function keptOf({ program }: Known, { factsDir }: Parts, { sessionId }: Pick<Whose, 'sessionId'>): Keeping {
  return { place: { folder: factsDir, program }, sessionId, every: null }
}

/** All of them, however long it takes; the next look goes on from here. */
export function factsOf(known: Known, parts: Parts, of: Whose): ReadFacts {
  const keeping = { ...keptOf(known, parts, of), every: KEEP_EVERY }
  return readFacts(known.readers, of.agent, of.transcriptPath, { keeping })
}

export function repositoryOf(
  { repository }: Known,
  { cwd, project }: Pick<SessionRecord, 'cwd' | 'project'>,
  withinMs?: number,
): Repository | null {
  const folder = cwd ?? project
  return folder === null ? null : repository(folder, withinMs)
}

/** What a brief of this session is made from and compared with. */
export function groundFor(known: Known, { parts, record, read }: Pick<Draft, 'parts' | 'record' | 'read'>): BriefGround {
  const found =
    read ??
    readFacts(known.readers, record.agent, record.transcriptPath, {
      withinMs: GROUND_MS,
      keeping: keptOf(known, parts, record),
    })
  return {
    keeper: known.keeperOf(parts),
    facts: found.facts,
    lastAnswer: found.lastAnswer,
    whole: found.whole && found.trouble === null,
    repository: found.repository === undefined ? repositoryOf(known, record) : found.repository,
  }
}
