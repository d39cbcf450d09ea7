import type { ArchiveRecord, SegmentRecord } from '../../contract/archive.js'
import type { Store } from '../store.js'
import type { Statement } from './driver.js'

type Part =
  | 'archive'
  | 'archives'
  | 'openArchives'
  | 'putArchive'
  | 'dropArchive'
  | 'segments'
  | 'putSegment'
  | 'dropSegment'
  | 'leftovers'
  | 'putLeftover'
  | 'dropLeftover'

/** The store's part about archives. */
export function archiveRows(sql: (text: string) => Statement): Pick<Store, Part> {
  const bodies = <T>(rows: unknown[]): T[] => rows.map((row) => JSON.parse((row as { body: string }).body) as T)
  return {
    archive: (id) => bodies<ArchiveRecord>(sql('SELECT body FROM archives WHERE archive_id = ?').all(id))[0] ?? null,
    archives({ sessionId, project } = {}) {
      const order = 'ORDER BY created_at, archive_id'
      if (sessionId !== undefined)
        return bodies<ArchiveRecord>(
          sql(`SELECT body FROM archives WHERE session_id = ? AND (? IS NULL OR project = ?) ${order}`).all(
            sessionId,
            project ?? null,
            project ?? null,
          ),
        )
      return bodies<ArchiveRecord>(
        sql(`SELECT body FROM archives WHERE (? IS NULL OR project = ?) ${order}`).all(project ?? null, project ?? null),
      )
    },
    openArchives: () =>
      bodies<ArchiveRecord>(sql('SELECT body FROM archives WHERE open = 1 ORDER BY created_at, archive_id').all()),
    putArchive(a) {
      sql(
        `INSERT INTO archives (archive_id, session_id, project, created_at, stem, open, body) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (archive_id) DO UPDATE SET session_id = excluded.session_id, project = excluded.project, open = excluded.open, body = excluded.body`,
      ).run(a.archiveId, a.sessionId, a.project, a.createdAt, a.stem, isOpen(a) ? 1 : 0, JSON.stringify(a))
    },
    dropArchive: (id) => void sql('DELETE FROM archives WHERE archive_id = ?').run(id),

    segments({ streamId, sessionId } = {}) {
      const order = 'ORDER BY stream_id, from_byte'
      if (streamId !== undefined)
        return bodies<SegmentRecord>(sql(`SELECT body FROM archive_segments WHERE stream_id = ? ${order}`).all(streamId))
      if (sessionId !== undefined)
        return bodies<SegmentRecord>(sql(`SELECT body FROM archive_segments WHERE session_id = ? ${order}`).all(sessionId))
      return bodies<SegmentRecord>(sql(`SELECT body FROM archive_segments ${order}`).all())
    },
    putSegment(s) {
      sql('INSERT OR REPLACE INTO archive_segments (file, stream_id, session_id, from_byte, body) VALUES (?, ?, ?, ?, ?)').run(
        s.file,
        s.streamId,
        s.sessionId,
        s.from,
        JSON.stringify(s),
      )
    },
    dropSegment: (file) => void sql('DELETE FROM archive_segments WHERE file = ?').run(file),

    leftovers: () =>
      (sql('SELECT item FROM archive_leftovers ORDER BY item').all() as { item: string }[]).map(({ item }) => item),
    putLeftover: (item) => void sql('INSERT OR IGNORE INTO archive_leftovers (item) VALUES (?)').run(item),
    dropLeftover: (item) => void sql('DELETE FROM archive_leftovers WHERE item = ?').run(item),
  }
}

/** What went wrong once is only open while it has a time to be tried again. */
function isOpen({ status, reason, retryAt, indexed }: ArchiveRecord): boolean {
  if (status === 'kept' && indexed) return false
  return reason === null || retryAt !== null
}
