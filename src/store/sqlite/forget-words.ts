import type { SessionRecord } from '../../contract/records/session.js'
import type { Database, Statement } from './driver.js'

/** The session and every session that received one of its briefs, by handoff or from the user. */
const RECIPIENTS = `(SELECT ?1 UNION SELECT json_extract(body, '$.newSessionId') FROM handoffs WHERE session_id = ?1
  UNION SELECT json_extract(body, '$.usedBySessionId') FROM briefs WHERE session_id = ?1)`

/**
 * The session and all its successors, following briefs over any number of handoffs.
 * Lasting facts are passed on from each brief to the next.
 */
const SUCCESSORS = `(WITH RECURSIVE after (id) AS (SELECT ?1 UNION
  SELECT json_extract(b.body, '$.usedBySessionId') FROM briefs b JOIN after ON b.session_id = after.id) SELECT id
    FROM after)`

/** Clears a message's text and cancels it if it is still queued, because it would be empty. */
const CLEAR_TEXT = `status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END,
  body = json_set(body, '$.agent_text', NULL, '$.user_text', NULL, '$.status', CASE status WHEN 'queued'
    THEN 'cancelled' ELSE status END)`
const HAS_TEXT = `coalesce(json_extract(body, '$.agent_text'), json_extract(body, '$.user_text')) IS NOT NULL`

/**
 * Erases every quote of a session's conversation from the store.
 * Quotes are in facts, losses, summaries and recovery texts of compactions, and in its briefs.
 * Reasons of handoffs and the tasks of its subagents are quotes too.
 * Records that these things happened stay, marked as forgotten. SQLite overwrites freed pages.
 * Returns the number of entries that held text.
 */
export function eraseQuotes(db: Database, sql: (text: string) => Statement, sessionId: string): number {
  db.exec('PRAGMA secure_delete = ON')
  const changed = [
    // Facts of a brief count as facts of the successor sessions, and fact keys contain their text.
    sql(`DELETE FROM compactions WHERE session_id IN ${SUCCESSORS}`).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.lost', json('[]'), '$.forgotten', json('true'))
       WHERE session_id = ? AND type = 'loss_report' AND json_extract(data, '$.forgotten') IS NULL`,
    ).run(sessionId),
    // Facts that came from a brief have line 0.
    sql(
      `UPDATE events SET data = json_set(data, '$.lost',
         (SELECT json_group_array(json(value)) FROM json_each(data, '$.lost')
         WHERE json_extract(value, '$.line') <> 0))
       WHERE session_id IN ${SUCCESSORS} AND type = 'loss_report'
         AND EXISTS (SELECT 1 FROM json_each(data, '$.lost') WHERE json_extract(value, '$.line') = 0)`,
    ).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.summary', NULL, '$.forgotten', json('true'))
       WHERE session_id = ? AND type = 'compaction_complete' AND json_extract(data, '$.summary') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE events SET data = json_set(data, '$.reason', NULL, '$.forgotten', json('true'))
       WHERE session_id IN ${RECIPIENTS} AND (type LIKE 'handoff_%' OR type = 'message_cancelled')
         AND json_extract(data, '$.reason') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE messages SET ${CLEAR_TEXT} WHERE session_id = ?
         AND json_extract(body, '$.category') IN ('recovery', 'brief', 'handoff') AND ${HAS_TEXT}`,
    ).run(sessionId),
    sql(
      `UPDATE messages SET ${CLEAR_TEXT} WHERE session_id IN ${SUCCESSORS}
       AND json_extract(body, '$.category') = 'recovery' AND ${HAS_TEXT}`,
    ).run(sessionId),
    // Undelivered handoff messages of successors are kept.
    // They may belong to the successor's own handoff.
    sql(
      `UPDATE messages SET ${CLEAR_TEXT} WHERE session_id IN ${RECIPIENTS} AND ${HAS_TEXT}
       AND (json_extract(body, '$.category') = 'brief'
         OR (json_extract(body, '$.category') = 'handoff' AND status IN ('delivered', 'cancelled')))`,
    ).run(sessionId),
    sql(
      `UPDATE handoffs SET body = json_set(body, '$.draft', NULL, '$.reason', NULL, '$.trouble', NULL, '$.question',
         NULL)
       WHERE session_id = ?
         AND coalesce(json_extract(body, '$.draft'), json_extract(body, '$.reason'), json_extract(body, '$.trouble'),
         json_extract(body, '$.question')) IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE briefs SET body = json_remove(body, '$.lasting') WHERE session_id IN ${SUCCESSORS}
       AND json_extract(body, '$.lasting') IS NOT NULL`,
    ).run(sessionId),
    // A fresh session inherits the title of the session before it.
    sql(
      `UPDATE briefs SET body = json_set(body, '$.title', NULL) WHERE session_id IN ${SUCCESSORS}
       AND json_extract(body, '$.title') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE sessions SET body = json_set(body, '$.title', NULL) WHERE session_id IN ${SUCCESSORS}
       AND json_extract(body, '$.title') IS NOT NULL`,
    ).run(sessionId),
    sql(
      `UPDATE subagents SET body = json_set(body, '$.description', NULL)
       WHERE session_id = ? AND json_extract(body, '$.description') IS NOT NULL`,
    ).run(sessionId),
  ]
  return changed.reduce((sum, { changes }) => sum + Number(changes), 0)
}

/** Returns the record without its title and compaction summary. Null when it has neither. */
export function withoutQuotes(record: SessionRecord): SessionRecord | null {
  const { compaction, title } = record
  const isQuoted = compaction !== null && compaction.summary !== null
  if (!isQuoted && !title) return null
  return { ...record, title: null, compaction: compaction && { ...compaction, summary: null } }
}
