import type { Database } from './driver.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Readings older than a week keep one per hour and cycle (the last); `reading` events go after a week; taken-once marks after a day. */
export function thinOut(db: Database, now: Date): number {
  const week = new Date(now.getTime() - 7 * DAY).toISOString()
  const day = new Date(now.getTime() - DAY).toISOString()
  let removed = 0
  const run = (text: string, ...values: unknown[]): void => {
    removed += Number(db.prepare(text).run(...values).changes)
  }
  run(
    `DELETE FROM readings WHERE at < ? AND reading_id NOT IN
       (SELECT max(reading_id) FROM readings WHERE at < ? GROUP BY session_id, cycle, substr(at, 1, 13))`,
    week,
    week,
  )
  run("DELETE FROM events WHERE type = 'reading' AND at < ?", week)
  run('DELETE FROM taken WHERE at < ?', day)
  return removed
}
