import type { ArchiveRecord, SegmentRecord } from '../../contract/records/archive.js'
import type { CompactionRecord } from '../../contract/records/compaction.js'
import type { AttemptRecord, JobRecord } from '../../contract/records/job.js'
import type { NoticeRecord } from '../../contract/records/notice.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { QUARTER_MS, type SpendRow } from '../../contract/records/spend.js'
import type { SessionQuery, Store } from '../store.js'
import { parseBodies, type Statement } from './driver.js'
import type { RecordCache } from './memory.js'

const NO_LIMIT = 1_000_000
const FINAL_STATES = new Set<JobRecord['state']>(['completed', 'failed', 'cancelled'])

type JobPart = 'job' | 'jobs' | 'openJobs' | 'putJob' | 'removeJob' | 'attempts' | 'attemptOfSession' | 'putAttempt'

/** Store methods for jobs and attempts. */
export function jobRows(sql: (text: string) => Statement): Pick<Store, JobPart> {
  return {
    job: (id) => parseBodies<JobRecord>(sql('SELECT body FROM jobs WHERE job_id = ?').all(id))[0] ?? null,
    jobs: ({ limit = NO_LIMIT } = {}) =>
      parseBodies<JobRecord>(
        sql('SELECT body FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT ?').all(Math.max(0, limit)),
      ).reverse(),
    openJobs: () =>
      parseBodies<JobRecord>(sql('SELECT body FROM jobs WHERE open = 1 ORDER BY created_at, rowid').all()),
    putJob(j) {
      sql(
        `INSERT INTO jobs (job_id, seat_id, agent_name, created_at, open, body) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (job_id) DO UPDATE SET seat_id = excluded.seat_id, open = excluded.open, body = excluded.body`,
      ).run(
        j.jobId,
        j.seatId,
        j.spec.agentName,
        j.createdAt,
        FINAL_STATES.has(j.state) && !j.hooksDue ? 0 : 1,
        JSON.stringify(j),
      )
    },
    removeJob(jobId) {
      // Events stay, because new ids continue from the newest.
      // Only the text in the events is erased.
      sql(
        `UPDATE events SET data = json_set(json_remove(data, '$.detail', '$.reason', '$.waiting', '$.name',
           '$.command', '$.output_path'), '$.forgotten', json('true'))
         WHERE job_id = ? AND (type LIKE 'job_%' OR type LIKE 'check%')`,
      ).run(jobId)
      sql('DELETE FROM attempts WHERE job_id = ?').run(jobId)
      sql('DELETE FROM jobs WHERE job_id = ?').run(jobId)
    },
    attempts: (jobId) =>
      parseBodies<AttemptRecord>(sql('SELECT body FROM attempts WHERE job_id = ? ORDER BY number').all(jobId)),
    attemptOfSession: (sessionId) =>
      parseBodies<AttemptRecord>(
        sql('SELECT body FROM attempts WHERE session_id = ? ORDER BY rowid DESC LIMIT 1').all(sessionId),
      )[0] ?? null,
    putAttempt(a) {
      sql(
        `INSERT INTO attempts (attempt_id, job_id, session_id, number, body) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (attempt_id) DO UPDATE SET session_id = excluded.session_id, body = excluded.body`,
      ).run(a.attemptId, a.jobId, a.sessionId, a.number, JSON.stringify(a))
    },
  }
}

type ArchivePart =
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

/** Store methods for archives. */
export function archiveRows(sql: (text: string) => Statement): Pick<Store, ArchivePart> {
  return {
    archive: (id) =>
      parseBodies<ArchiveRecord>(sql('SELECT body FROM archives WHERE archive_id = ?').all(id))[0] ?? null,
    archives({ sessionId, project } = {}) {
      const order = 'ORDER BY created_at, archive_id'
      if (sessionId !== undefined)
        return parseBodies<ArchiveRecord>(
          sql(`SELECT body FROM archives WHERE session_id = ? AND (? IS NULL OR project = ?) ${order}`).all(
            sessionId,
            project ?? null,
            project ?? null,
          ),
        )
      return parseBodies<ArchiveRecord>(
        sql(`SELECT body FROM archives WHERE (? IS NULL OR project = ?) ${order}`).all(
          project ?? null,
          project ?? null,
        ),
      )
    },
    openArchives: () =>
      parseBodies<ArchiveRecord>(sql('SELECT body FROM archives WHERE open = 1 ORDER BY created_at, archive_id').all()),
    putArchive(a) {
      sql(
        `INSERT INTO archives (archive_id, session_id, project, created_at, stem, open, body)
         VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (archive_id) DO UPDATE
           SET session_id = excluded.session_id, project = excluded.project, open = excluded.open,
           body = excluded.body`,
      ).run(a.archiveId, a.sessionId, a.project, a.createdAt, a.stem, isOpen(a) ? 1 : 0, JSON.stringify(a))
    },
    dropArchive: (id) => void sql('DELETE FROM archives WHERE archive_id = ?').run(id),

    segments({ streamId, sessionId } = {}) {
      const order = 'ORDER BY stream_id, from_byte'
      if (streamId !== undefined)
        return parseBodies<SegmentRecord>(
          sql(`SELECT body FROM archive_segments WHERE stream_id = ? ${order}`).all(streamId),
        )
      if (sessionId !== undefined)
        return parseBodies<SegmentRecord>(
          sql(`SELECT body FROM archive_segments WHERE session_id = ? ${order}`).all(sessionId),
        )
      return parseBodies<SegmentRecord>(sql(`SELECT body FROM archive_segments ${order}`).all())
    },
    putSegment(s) {
      sql(
        'INSERT OR REPLACE INTO archive_segments (file, stream_id, session_id, from_byte, body) VALUES (?, ?, ?, ?, ?)',
      ).run(s.file, s.streamId, s.sessionId, s.from, JSON.stringify(s))
    },
    dropSegment: (file) => void sql('DELETE FROM archive_segments WHERE file = ?').run(file),

    leftovers: () =>
      (sql('SELECT item FROM archive_leftovers ORDER BY item').all() as { item: string }[]).map(({ item }) => item),
    putLeftover: (item) => void sql('INSERT OR IGNORE INTO archive_leftovers (item) VALUES (?)').run(item),
    dropLeftover: (item) => void sql('DELETE FROM archive_leftovers WHERE item = ?').run(item),
  }
}

/** An archive that failed is open only while a retry is scheduled. */
function isOpen({ status, reason, retryAt, indexed }: ArchiveRecord): boolean {
  if (status === 'kept' && indexed) return false
  return reason === null || retryAt !== null
}

/** Store methods for compactions. */
export function compactionRows(
  sql: (text: string) => Statement,
): Pick<Store, 'compaction' | 'compactions' | 'openCompactions' | 'compacting' | 'putCompaction' | 'endCompaction'> {
  return {
    compaction: (sessionId, startedAt) =>
      parseBodies<CompactionRecord>(
        sql('SELECT body FROM compactions WHERE session_id = ? AND started_at = ?').all(sessionId, startedAt),
      )[0] ?? null,
    compactions: (sessionId) =>
      parseBodies<CompactionRecord>(
        sql('SELECT body FROM compactions WHERE session_id = ? ORDER BY started_at').all(sessionId),
      ),
    openCompactions: () =>
      parseBodies<CompactionRecord>(sql('SELECT body FROM compactions WHERE open = 1 ORDER BY started_at').all()),
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

type NoticePart =
  | 'addNotice'
  | 'dueNotices'
  | 'lastDeliveries'
  | 'lastNoticeAt'
  | 'limitNotices'
  | 'nextNoticeAt'
  | 'notice'
  | 'putNotice'

/** Store methods for notices to the user outside the client. */
export function noticeRows(sql: (text: string) => Statement): Pick<Store, NoticePart> {
  const insert = (otherwise: string, n: NoticeRecord): boolean =>
    Number(
      sql(
        `INSERT INTO notices (notice_id, target, kind, state, at, due_at, claimed_at, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (notice_id) DO ${otherwise}`,
      ).run(n.noticeId, JSON.stringify(n.target), n.kind, n.state, n.at, n.dueAt, n.claimedAt, JSON.stringify(n))
        .changes,
    ) === 1
  return {
    addNotice: (notice) => insert('NOTHING', notice),
    putNotice: (notice) =>
      void insert(
        'UPDATE SET state = excluded.state, due_at = excluded.due_at, claimed_at = excluded.claimed_at, body = ' +
          'excluded.body',
        notice,
      ),
    notice: (id) => parseBodies<NoticeRecord>(sql('SELECT body FROM notices WHERE notice_id = ?').all(id))[0] ?? null,
    dueNotices: (now) =>
      parseBodies<NoticeRecord>(sql('SELECT body FROM notices WHERE due_at <= ? ORDER BY due_at, rowid').all(now)),
    nextNoticeAt() {
      const row = sql('SELECT min(due_at) AS at FROM notices WHERE due_at IS NOT NULL').get() as { at: string | null }
      return row.at
    },
    lastNoticeAt(target, kind, now) {
      const row = sql(
        `SELECT max(claimed_at) AS at FROM notices WHERE target = ? AND kind = ?
         AND (state = 'sent' OR state = 'sending' AND due_at > ?)`,
      ).get(JSON.stringify(target), kind, now) as { at: string | null }
      return row.at
    },
    limitNotices: (since) =>
      parseBodies<NoticeRecord>(
        sql(
          `SELECT body FROM notices WHERE kind = 'limit' AND json_extract(body, '$.jobId') IS NULL
           AND (at >= ? OR json_extract(body, '$.data.resets_at') >= ?) ORDER BY at, rowid`,
        ).all(since, since),
      ),
    lastDeliveries: () =>
      parseBodies<NoticeRecord>(
        sql(
          `SELECT body, max(claimed_at) FROM notices WHERE state IN ('sent', 'failed') AND claimed_at IS NOT NULL
           GROUP BY target ORDER BY max(claimed_at) DESC`,
        ).all(),
      ),
  }
}

interface SpendSqlRow {
  quarter: number
  session_id: string
  project: string | null
  model: string
  steps: number
  input: number
  output: number
  cache_creation: number
  cache_read: number
  cost_usd: number | null
}

/** Store methods for spend by time. */
export function spendRows(sql: (text: string) => Statement): Pick<Store, 'addSpend' | 'spend' | 'firstSpend'> {
  return {
    addSpend(s) {
      sql(
        `INSERT INTO spend (quarter, session_id, model, steps, input, output, cache_creation, cache_read, cost_usd)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE
           SET steps = steps + excluded.steps, input = input + excluded.input, output = output + excluded.output,
           cache_creation = cache_creation + excluded.cache_creation, cache_read = cache_read + excluded.cache_read,
           cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN cost_usd
             ELSE coalesce(cost_usd, 0) + excluded.cost_usd END`,
      ).run(
        ...[Math.floor(Date.parse(s.at) / QUARTER_MS), s.sessionId, s.model ?? ''],
        ...[s.steps, s.input, s.output, s.cacheCreation, s.cacheRead, s.costUsd],
      )
    },
    spend({ fromQuarter }) {
      const rows = sql(
        'SELECT spend.*, sessions.project FROM spend LEFT JOIN sessions USING (session_id) WHERE quarter >= ? ' +
          'ORDER BY quarter',
      ).all(fromQuarter) as SpendSqlRow[]
      return rows.map(rowOf)
    },
    firstSpend: () => (sql('SELECT min(quarter) AS quarter FROM spend').get() as { quarter: number | null }).quarter,
  }
}

function rowOf(row: SpendSqlRow): SpendRow {
  return {
    quarter: row.quarter,
    sessionId: row.session_id,
    project: row.project,
    model: row.model === '' ? null : row.model,
    steps: row.steps,
    input: row.input,
    output: row.output,
    cacheCreation: row.cache_creation,
    cacheRead: row.cache_read,
    costUsd: row.cost_usd,
  }
}

const bodyOf = (row: unknown): SessionRecord => JSON.parse((row as { body: string }).body) as SessionRecord
const isOver = ({ state }: SessionRecord): boolean => state === 'ended' || state === 'unknown'

const SINCE = 'seen_at >= ?1'
/**
 * Selects active sessions and those that ended since a time. Each part uses an index of its own.
 */
const idsOf = (activeOnes: string): string =>
  `SELECT session_id FROM sessions WHERE ${activeOnes} UNION ALL SELECT session_id FROM sessions WHERE over = 1
   AND ${SINCE}`
const WHERE = { any: SINCE, only: 'over = 0', also: `session_id IN (${idsOf('over = 0')})` }

type SessionPart = 'session' | 'sessions' | 'seenSince' | 'chain' | 'putSession'

/** Store methods for sessions. */
export function sessionRows(
  sql: (text: string) => Statement,
  cache: Pick<RecordCache, 'getOrRead' | 'set'>,
): Pick<Store, SessionPart> {
  const { getOrRead, set } = cache
  return {
    session: (id) =>
      getOrRead(`session ${id}`, () => {
        const row = sql('SELECT body FROM sessions WHERE session_id = ?').get(id)
        return row ? bodyOf(row) : null
      }),
    sessions(query: SessionQuery = {}) {
      const { seenSince = '', project = null, wantsBrief, active = 'any' } = query
      const wants = wantsBrief ? " AND json_extract(body, '$.briefWanted') IS NOT NULL" : ''
      return sql(
        `SELECT body FROM sessions WHERE ${WHERE[active]} AND coalesce(?2, project) IS project${wants}
         ORDER BY seen_at DESC, session_id`,
      )
        .all(seenSince, project)
        .map(bodyOf)
    },
    seenSince(time) {
      const rows = sql(idsOf(`over = 0 AND ${SINCE}`)).all(time) as { session_id: string }[]
      return rows.map(({ session_id }) => session_id)
    },
    chain: (seatId) =>
      sql('SELECT body FROM sessions WHERE seat_id = ? ORDER BY started_at, session_id').all(seatId).map(bodyOf),
    putSession(record) {
      const json = JSON.stringify(record)
      const over = isOver(record) ? 1 : 0
      // Nearly every signal changes a known session, for which this UPDATE suffices.
      // For an active session the UPDATE changes no indexed column: it is faster than the INSERT.
      const known = sql(
        'UPDATE sessions SET project = ?, seen_at = ?, body = ? WHERE session_id = ? AND seat_id = ? AND over = ?',
      )
      if (Number(known.run(record.project, record.seenAt, json, record.sessionId, record.seatId, over).changes) === 0) {
        sql(
          `INSERT INTO sessions (session_id, seat_id, project, seen_at, started_at, body, over)
           VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (session_id) DO UPDATE
             SET seat_id = excluded.seat_id, project = excluded.project, seen_at = excluded.seen_at,
             body = excluded.body, over = excluded.over`,
        ).run(record.sessionId, record.seatId, record.project, record.seenAt, record.startedAt, json, over)
      }
      set(`session ${record.sessionId}`, record)
    },
  }
}
