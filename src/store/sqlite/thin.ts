import type { Database } from './driver.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Readings older than a week keep one per session, cycle and hour (the last); taken-once marks go after a day. */
export function thinOut(db: Database, now: Date): number {
  const week = new Date(now.getTime() - 7 * DAY).toISOString()
  const day = new Date(now.getTime() - DAY).toISOString()
  let removed = 0
  const run = (text: string, ...values: unknown[]): void => {
    removed += Number(db.prepare(text).run(...values).changes)
  }
  // The newest event stays whatever it is: ids are counted on from it.
  run(
    `DELETE FROM events WHERE type = 'reading' AND at < ? AND id < (SELECT max(id) FROM events) AND id NOT IN
       (SELECT max(id) FROM events WHERE type = 'reading' AND at < ?
        GROUP BY session_id, json_extract(data, '$.cycle'), substr(at, 1, 13))`,
    week,
    week,
  )
  run('DELETE FROM taken WHERE at < ?', day)
  return removed
}
