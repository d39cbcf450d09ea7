import type { CompactionRecord } from '../../contract/loss.js'
import type { Store } from '../store.js'
import type { Statement } from './driver.js'

/** The store's part about compactions. */
export function compactionRows(
  sql: (text: string) => Statement,
): Pick<Store, 'compaction' | 'compactions' | 'openCompactions' | 'compacting' | 'putCompaction' | 'endCompaction'> {
  const bodies = (rows: unknown[]): CompactionRecord[] =>
    rows.map((row) => JSON.parse((row as { body: string }).body) as CompactionRecord)
  return {
    compaction: (sessionId, startedAt) =>
      bodies(sql('SELECT body FROM compactions WHERE session_id = ? AND started_at = ?').all(sessionId, startedAt))[0] ?? null,
    compactions: (sessionId) =>
      bodies(sql('SELECT body FROM compactions WHERE session_id = ? ORDER BY started_at').all(sessionId)),
    openCompactions: () => bodies(sql('SELECT body FROM compactions WHERE open = 1 ORDER BY started_at').all()),
    compacting: () =>
      sql('SELECT DISTINCT session_id FROM compactions WHERE ended = 0')
        .all()
        .map((row) => (row as { session_id: string }).session_id),
    endCompaction(sessionId, startedAt) {
      sql('UPDATE compactions SET ended = 1 WHERE session_id = ? AND started_at = ?').run(sessionId, startedAt)
    },
    putCompaction(record) {
      const open = record.facts === null && record.trouble === null ? 1 : 0
      sql(
        `INSERT INTO compactions (session_id, started_at, open, ended, body) VALUES (?, ?, ?, 0, ?)
         ON CONFLICT (session_id, started_at) DO UPDATE SET open = excluded.open, body = excluded.body`,
      ).run(record.sessionId, record.startedAt, open, JSON.stringify(record))
    },
  }
}
