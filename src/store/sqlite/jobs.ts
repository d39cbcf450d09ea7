import type { AttemptRecord, JobRecord } from '../../contract/job.js'
import type { Store } from '../store.js'
import type { Statement } from './driver.js'

const EVERY = 1_000_000
const OVER = new Set<JobRecord['state']>(['completed', 'failed', 'cancelled'])

const bodies = <T>(rows: unknown[]): T[] => rows.map((row) => JSON.parse((row as { body: string }).body) as T)

type JobPart = 'job' | 'jobs' | 'openJobs' | 'putJob' | 'removeJob' | 'attempts' | 'attemptOf' | 'putAttempt'

/** The store's part about jobs and their sessions. */
export function jobRows(sql: (text: string) => Statement): Pick<Store, JobPart> {
  return {
    job: (id) => bodies<JobRecord>(sql('SELECT body FROM jobs WHERE job_id = ?').all(id))[0] ?? null,
    jobs: ({ limit = EVERY } = {}) =>
      bodies<JobRecord>(
        sql('SELECT body FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT ?').all(Math.max(0, limit)),
      ).reverse(),
    openJobs: () => bodies<JobRecord>(sql('SELECT body FROM jobs WHERE open = 1 ORDER BY created_at, rowid').all()),
    putJob(j) {
      sql(
        `INSERT INTO jobs (job_id, seat_id, agent_name, created_at, open, body) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (job_id) DO UPDATE SET open = excluded.open, body = excluded.body`,
      ).run(j.jobId, j.seatId, j.spec.agentName, j.createdAt, OVER.has(j.state) && !j.hooksDue ? 0 : 1, JSON.stringify(j))
    },
    removeJob(jobId) {
      // Events stay: their ids go on from the newest. What they quote goes.
      sql(
        `UPDATE events SET data = json_set(json_remove(data, '$.detail', '$.reason', '$.waiting', '$.name', '$.command', '$.output_path'), '$.forgotten', json('true'))
         WHERE job_id = ? AND (type LIKE 'job_%' OR type LIKE 'check%')`,
      ).run(jobId)
      sql('DELETE FROM attempts WHERE job_id = ?').run(jobId)
      sql('DELETE FROM jobs WHERE job_id = ?').run(jobId)
    },
    attempts: (jobId) => bodies<AttemptRecord>(sql('SELECT body FROM attempts WHERE job_id = ? ORDER BY number').all(jobId)),
    attemptOf: (sessionId) =>
      bodies<AttemptRecord>(
        sql('SELECT body FROM attempts WHERE session_id = ? ORDER BY number DESC LIMIT 1').all(sessionId),
      )[0] ?? null,
    putAttempt(a) {
      sql(
        `INSERT INTO attempts (attempt_id, job_id, session_id, number, body) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (attempt_id) DO UPDATE SET session_id = excluded.session_id, body = excluded.body`,
      ).run(a.attemptId, a.jobId, a.sessionId, a.number, JSON.stringify(a))
    },
  }
}
