import type { SessionRecord } from '../../contract/record.js'
import type { Database, Statement } from './driver.js'

/**
 * What the store quotes of a session's conversation goes: facts and losses of its compactions, summaries, what was put back. That those
 * things happened stays, marked as forgotten. Freed pages are overwritten. Returns how many entries held words.
 */
export function forgetWords(db: Database, sql: (text: string) => Statement, sessionId: string): number {
  db.exec('PRAGMA secure_delete = ON')
  const changed = [
    sql('DELETE FROM compactions WHERE session_id = ?').run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.lost', json('[]'), '$.forgotten', json('true'))
       WHERE session_id = ? AND type = 'loss_report' AND json_extract(data, '$.forgotten') IS NULL`,
    ).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.summary', NULL, '$.forgotten', json('true'))
       WHERE session_id = ? AND type = 'compaction_complete' AND json_extract(data, '$.summary') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE messages SET status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END,
         body = json_set(body, '$.agent_text', NULL, '$.status', CASE status WHEN 'queued' THEN 'cancelled' ELSE status END)
       WHERE session_id = ? AND json_extract(body, '$.category') = 'recovery' AND json_extract(body, '$.agent_text') IS NOT NULL`,
    ).run(sessionId),
  ]
  return changed.reduce((sum, { changes }) => sum + Number(changes), 0)
}

/** The summary of a compaction that is kept with its session. */
export function withoutSummary(record: SessionRecord): SessionRecord | null {
  const { compaction } = record
  return compaction === null || compaction.summary === null ? null : { ...record, compaction: { ...compaction, summary: null } }
}
