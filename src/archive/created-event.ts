import type { Archive, ArchiveRecord } from '../contract/archive.js'
import type { NewEvent } from '../contract/event.js'

/** What tells others that an archive is kept. */
export function createdEvent(
  record: ArchiveRecord,
  { bytes, stored_bytes, sha256, path, subagents }: Archive,
  session: { seatId: string; jobId: string | null } | null,
  at: Date,
): NewEvent {
  const { archiveId, sessionId, trigger, createdAt } = record
  return {
    type: 'archive_created',
    at: at.toISOString(),
    session_id: sessionId,
    seat_id: session?.seatId ?? null,
    job_id: session?.jobId ?? null,
    data: {
      ...{ archive_id: archiveId, trigger, created_at: createdAt, bytes, stored_bytes, sha256, path },
      subagents: subagents.filter(({ sha256: hash }) => hash !== null).length,
    },
  }
}
