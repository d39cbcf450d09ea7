import type { SessionRecord } from '../../contract/records/session.js'
import type { Database, Statement } from './driver.js'

/** The session itself, and those that were given a brief of it: as the fresh one of a handoff, or because somebody gave it one. */
const TOLD = `(SELECT ?1 UNION SELECT json_extract(body, '$.newSessionId') FROM handoffs WHERE session_id = ?1
  UNION SELECT json_extract(body, '$.usedBySessionId') FROM briefs WHERE session_id = ?1)`

/** All that came after it by briefs, however many handoffs later: what holds on is handed from one to the next. */
const AFTER = `(WITH RECURSIVE after (id) AS (SELECT ?1 UNION
  SELECT json_extract(b.body, '$.usedBySessionId') FROM briefs b JOIN after ON b.session_id = after.id) SELECT id FROM after)`

/** What still waits is cancelled: an empty text would say nothing. */
const CLEARED = `status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END,
  body = json_set(body, '$.agent_text', NULL, '$.user_text', NULL, '$.status', CASE status WHEN 'queued' THEN 'cancelled' ELSE status END)`
const HOLDS = `coalesce(json_extract(body, '$.agent_text'), json_extract(body, '$.user_text')) IS NOT NULL`

/**
 * What the store quotes of a session's conversation goes: facts and losses of its compactions, summaries, what was put back, its briefs as
 * they were given on, the reasons of its handoffs and what its subagents were asked. That those things happened stays, marked as forgotten.
 * Freed pages are overwritten. Returns how many entries held words.
 */
export function forgetWords(db: Database, sql: (text: string) => Statement, sessionId: string): number {
  db.exec('PRAGMA secure_delete = ON')
  const changed = [
    // Facts of a brief count as facts of the sessions that came after it, and keys hold their text.
    sql(`DELETE FROM compactions WHERE session_id IN ${AFTER}`).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.lost', json('[]'), '$.forgotten', json('true'))
       WHERE session_id = ? AND type = 'loss_report' AND json_extract(data, '$.forgotten') IS NULL`,
    ).run(sessionId),
    // Line 0 is that of facts from a brief.
    sql(
      `UPDATE events SET data = json_set(data, '$.lost', (SELECT json_group_array(json(value)) FROM json_each(data, '$.lost')
         WHERE json_extract(value, '$.line') <> 0))
       WHERE session_id IN ${AFTER} AND type = 'loss_report'
         AND EXISTS (SELECT 1 FROM json_each(data, '$.lost') WHERE json_extract(value, '$.line') = 0)`,
    ).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.summary', NULL, '$.forgotten', json('true'))
       WHERE session_id = ? AND type = 'compaction_complete' AND json_extract(data, '$.summary') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.reason', NULL, '$.forgotten', json('true'))
       WHERE session_id IN ${TOLD} AND (type LIKE 'handoff_%' OR type = 'message_cancelled') AND json_extract(data, '$.reason') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE messages SET ${CLEARED} WHERE session_id = ?
         AND json_extract(body, '$.category') IN ('recovery', 'brief', 'handoff') AND ${HOLDS}`,
    ).run(sessionId),
    sql(
      `UPDATE messages SET ${CLEARED} WHERE session_id IN ${AFTER} AND json_extract(body, '$.category') = 'recovery' AND ${HOLDS}`,
    ).run(sessionId),
    // Of the others, what is still to be said may be a handoff of their own.
    sql(
      `UPDATE messages SET ${CLEARED} WHERE session_id IN ${TOLD} AND ${HOLDS} AND (json_extract(body, '$.category') = 'brief'
         OR (json_extract(body, '$.category') = 'handoff' AND status IN ('delivered', 'cancelled')))`,
    ).run(sessionId),
    sql(
      `UPDATE handoffs SET body = json_set(body, '$.draft', NULL, '$.reason', NULL, '$.trouble', NULL, '$.question', NULL)
       WHERE session_id = ? AND coalesce(json_extract(body, '$.draft'), json_extract(body, '$.reason'), json_extract(body, '$.trouble'),
         json_extract(body, '$.question')) IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE briefs SET body = json_remove(body, '$.lasting') WHERE session_id IN ${AFTER} AND json_extract(body, '$.lasting') IS NOT NULL`,
    ).run(sessionId),
    // A fresh session inherits the title of the one before it.
    sql(
      `UPDATE briefs SET body = json_set(body, '$.title', NULL) WHERE session_id IN ${AFTER} AND json_extract(body, '$.title') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE sessions SET body = json_set(body, '$.title', NULL) WHERE session_id IN ${AFTER} AND json_extract(body, '$.title') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE subagents SET body = json_set(body, '$.description', NULL)
       WHERE session_id = ? AND json_extract(body, '$.description') IS NOT NULL`,
    ).run(sessionId),
  ]
  return changed.reduce((sum, { changes }) => sum + Number(changes), 0)
}

/** The record without its title and the summary of its compaction; null when it has neither. */
export function withoutQuotes(record: SessionRecord): SessionRecord | null {
  const { compaction, title } = record
  const isQuoted = compaction !== null && compaction.summary !== null
  if (!isQuoted && !title) return null
  return { ...record, title: null, compaction: compaction && { ...compaction, summary: null } }
}
