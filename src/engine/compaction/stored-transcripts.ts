import type { StoredTranscript } from '../../agents/transcript-reader.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { EngineDependencies } from '../context.js'
import { isForgotten } from '../views/session-queries.js'
import { isHeadless } from './keep-transcript.js'
import { archivedBytesOf, hasMoreConversation, mayClientRun } from './sweep-transcripts.js'

/**
 * Archiving state of a transcript on the disk:
 *
 * - **archived**: archives hold its whole conversation, or held it until they were pruned.
 * - **unarchived**: part of the transcript is in no archive. `baton import` archives it.
 * - **open**: its client still runs, so the transcript is archived when the session ends.
 * - **headless**: a `-p` run outside of jobs, which is archived only before a compaction.
 * - **off**: archiving is turned off in its project.
 * - **forgotten**: the user had its data deleted.
 * - **expired**: older than a `cleanupPeriodDays` of the user, so its archive would be removed.
 */
export type ArchivingState = 'archived' | 'unarchived' | 'open' | 'headless' | 'off' | 'forgotten' | 'expired'

const DAY_MS = 24 * 3_600_000

export interface JudgedTranscript extends StoredTranscript {
  agent: string
  project: string | null
  /**
   * First request of the session, shortened. Null when Baton knows the session or there is none.
   */
  title: string | null
  standing: ArchivingState
}

/**
 * Judges every transcript that clients keep, oldest first.
 * Reads files, so call the function outside of transactions.
 */
export function judgeStoredTranscripts(
  deps: EngineDependencies,
  env: Record<string, string | undefined>,
  from: string | null = null,
): JudgedTranscript[] {
  const now = deps.now().getTime()
  return Object.entries(deps.sources().readers)
    .flatMap(([agent, reader]) =>
      reader.storedTranscripts(env, from).map((stored): JudgedTranscript => {
        const record = deps.store.session(stored.sessionId)
        const isKept = !hasMoreConversation(deps, { ...stored, agent }, archivedBytesOf(deps, stored.sessionId))
        const origin = record === null && !isKept ? reader.originOfTranscript(stored.path) : null
        const project = record?.project ?? origin?.folder ?? null
        const period = reader.cleanupPeriod(stored.path)
        const isExpired = period.setBy !== null && now - stored.writtenMs > period.days * DAY_MS
        const standing = isKept ? 'archived' : standingOf(deps, agent, record, project, origin?.headless === true)
        return {
          ...stored,
          agent,
          project,
          title: origin?.title ?? null,
          standing: standing === 'unarchived' && isExpired ? 'expired' : standing,
        }
      }),
    )
    .sort((a, b) => a.writtenMs - b.writtenMs)
}

function standingOf(
  deps: EngineDependencies,
  agent: string,
  record: SessionRecord | null,
  project: string | null,
  headless: boolean,
): ArchivingState {
  if (record !== null && isForgotten(record)) return 'forgotten'
  if (!deps.policyOf({ agent, project, model: record?.model ?? null, seat: null }).policy.archive.enabled) return 'off'
  if (record === null) return headless ? 'headless' : 'unarchived'
  if (isHeadless(record)) return 'headless'
  return mayClientRun(deps, record) ? 'open' : 'unarchived'
}

/** Plans the archive of one transcript. False when it holds nothing new or must not be read. */
export function planStoredTranscripts(
  deps: EngineDependencies,
  { sessionId, agent, project, title, path, bytes }: JudgedTranscript,
): boolean {
  const ahead = new Map([deps.lookForArchive({ agent, transcript: path })])
  return deps.store.transaction(() => {
    if (archivedBytesOf(deps, sessionId) >= bytes) return false
    return deps.planArchive({ sessionId, agent, project, title, trigger: 'import', transcript: path }) !== null
  }, ahead)
}
