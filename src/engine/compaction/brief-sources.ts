import type { Repository } from '../../briefs/mechanical-brief.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { readNamedFile } from '../../lib/named-file.js'
import { scaleTimeout } from '../../lib/patience.js'
import type { EngineDependencies, SignalContext } from '../context.js'
import type { BriefMaterial } from '../handoff/make-brief.js'
import { BYTES_BETWEEN_KEEPING } from './deferred-work.js'
import { type FactStorage, type ReadFacts, readFacts } from './read-facts.js'

/** Milliseconds the end of a turn waits for its transcript to be read. */
export const BRIEF_SOURCES_TIMEOUT_MS = 1_500

/** Longer transcripts are not searched for what a brief names, because a hook waits for it. */
const MOST_SEARCHED = 24 * 1024 * 1024

/** Returns a transcript's bytes. Null when it is too long or may not be read. */
function readWholeTranscript(path: string): Buffer | null {
  const read = readNamedFile(path, { owner: 'this-user', most: MOST_SEARCHED })
  return 'refused' in read || read.more ? null : read.bytes
}

type TranscriptOwner = Pick<SessionRecord, 'sessionId' | 'agent' | 'transcriptPath'>

/**
 * Returns where a session's facts are kept.
 * With `every` null, facts are only read and not stored, as a caller waits.
 */
export function keptFactsOf(deps: EngineDependencies, { sessionId }: Pick<TranscriptOwner, 'sessionId'>): FactStorage {
  return { place: { folder: deps.factsDir, program: deps.sources().program }, sessionId, every: null }
}

/**
 * Reads all facts, however long it takes, and stores them so that the next read continues there.
 */
export function readAndStoreFacts(deps: EngineDependencies, of: TranscriptOwner): ReadFacts {
  const keeping = { ...keptFactsOf(deps, of), every: BYTES_BETWEEN_KEEPING }
  return readFacts(deps.sources().readers, of.agent, of.transcriptPath, { keeping })
}

export function repositoryOf(
  deps: EngineDependencies,
  { cwd, project }: Pick<SessionRecord, 'cwd' | 'project'>,
  withinMs?: number,
): Repository | null {
  const folder = cwd ?? project
  return folder === null ? null : deps.sources().repository(folder, withinMs)
}

/** Returns the facts and texts that a brief of this session is made from and compared with. */
export function briefMaterial({ deps, record, read }: Pick<SignalContext, 'deps' | 'record' | 'read'>): BriefMaterial {
  const { sessionId, agent, transcriptPath } = record
  const found =
    read ??
    deps.store.readUnlocked(`facts ${sessionId} ${transcriptPath}`, () =>
      readFacts(deps.sources().readers, agent, transcriptPath, {
        withinMs: scaleTimeout(BRIEF_SOURCES_TIMEOUT_MS),
        keeping: keptFactsOf(deps, record),
      }),
    )
  const repository = (): Repository | null =>
    deps.store.readUnlocked(`repository ${record.cwd} ${record.project}`, () => repositoryOf(deps, record))
  return {
    keeper: deps.sources().keeper,
    facts: found.facts,
    lastAnswer: found.lastAnswer,
    whole: found.whole && found.trouble === null,
    repository: found.repository === undefined ? repository() : found.repository,
    readTranscript: () =>
      transcriptPath === null
        ? null
        : deps.store.readUnlocked(`transcript ${transcriptPath}`, () => readWholeTranscript(transcriptPath)),
  }
}
