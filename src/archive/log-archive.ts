import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import type { Log } from '../lib/log.js'

/**
 * Outcome of an archive, which decides its log line:
 *
 * | outcome | level | when |
 * |---|---|---|
 * | kept | info | it was written and read back; the sizes show how fast archives grow |
 * | missing | warn | no transcript of this user is at the path that the client reported |
 * | unwritten | error | the archive could not be written; `again` is the time of the next try |
 */
type ArchiveOutcome =
  | { kept: readonly SegmentRecord[] }
  | { missing: string }
  | { unwritten: string; again: string | null }

export function logArchive(log: Log, record: ArchiveRecord, outcome: ArchiveOutcome): void {
  const about = { session: record.sessionId, archive: record.archiveId, trigger: record.trigger }
  const path = record.parts[0]?.path || null
  if ('kept' in outcome) {
    const bytes = record.parts.reduce((sum, part) => sum + part.bytes, 0)
    const stored = outcome.kept.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
    log('info', 'a transcript was archived', { ...about, bytes, stored_bytes: stored })
  } else if ('missing' in outcome)
    log('warn', 'a transcript could not be archived', { ...about, path, reason: outcome.missing })
  else
    log('error', 'an archive could not be written', { ...about, path, reason: outcome.unwritten, again: outcome.again })
}
