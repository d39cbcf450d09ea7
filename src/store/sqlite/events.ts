import type { Event, EventType, NewEvent } from '../../contract/records/event.js'
import { type EventQuery, SHOWN_ONCE_PREFIX, type Store } from '../store.js'
import type { Database, Statement } from './driver.js'
import { MILESTONES } from './migrations.js'

export interface EventRow {
  id: number
  type: EventType
  at: string
  session_id: string | null
  seat_id: string | null
  job_id: string | null
  data: string
}

/** Store methods for events. */
export function eventRows(sql: (text: string) => Statement): Pick<Store, 'addEvent' | 'events' | 'milestones'> {
  return {
    addEvent(event: NewEvent): Event {
      const done = sql(
        'INSERT INTO events (type, at, session_id, seat_id, job_id, data) VALUES (?, ?, ?, ?, ?, ?)',
      ).run(event.type, event.at, event.session_id, event.seat_id, event.job_id, JSON.stringify(event.data))
      return { id: Number(done.lastInsertRowid), ...event }
    },
    events(query: EventQuery = {}) {
      const forward = query.afterId !== undefined
      const of = [query.sessionId, query.jobId].filter((one) => one !== undefined)
      const where =
        `id > ? AND at >= ?${query.sessionId === undefined ? '' : ' AND session_id = ?'}` +
        `${query.jobId === undefined ? '' : ' AND job_id = ?'}`
      const match = [query.afterId ?? 0, query.since ?? '', ...of]
      const thinned = query.readings === 'newest'
      // The unary plus stops SQLite from using the session index.
      // With that index, SQLite would scan the whole history.
      const newest = `AND (type <> 'reading' OR id IN (SELECT max(id) FROM events WHERE ${where} AND type = 'reading'
                      GROUP BY +session_id))`
      const rows = sql(
        `SELECT * FROM events WHERE ${where} ` +
          `${thinned ? newest : query.readings === 'none' ? "AND type <> 'reading'" : ''} ORDER BY id ` +
          `${forward ? 'ASC' : 'DESC'} LIMIT ?`,
      ).all(...match, ...(thinned ? match : []), query.limit ?? 1_000_000) as EventRow[]
      const events = rows.map(eventOf)
      return forward ? events : events.reverse()
    },
    milestones(since) {
      // The unary plus makes SQLite use the milestone index and sort the few rows it finds.
      const rows = sql(`SELECT * FROM events WHERE ${MILESTONES} AND at >= ? ORDER BY +id`).all(since) as EventRow[]
      return rows.map(eventOf)
    },
  }
}

const eventOf = (row: EventRow): Event => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> })

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * Deletes old rows and returns how many.
 * Token readings older than a week: keeps the last one per session, cycle and hour.
 * Claims (ids that were used once): deleted after a day.
 * Claims of warnings that the user sees once: deleted after a year.
 * Notices: deleted after a month, when every usage limit that they mention has ended.
 */
export function deleteOldRows(db: Database, now: Date): number {
  const week = new Date(now.getTime() - 7 * DAY).toISOString()
  const day = new Date(now.getTime() - DAY).toISOString()
  const year = new Date(now.getTime() - 365 * DAY).toISOString()
  let removed = 0
  const run = (text: string, ...values: unknown[]): void => {
    removed += Number(db.prepare(text).run(...values).changes)
  }
  // The newest event always stays, because new ids continue from it.
  run(
    `DELETE FROM events WHERE type = 'reading' AND at < ? AND id < (SELECT max(id) FROM events) AND id NOT IN
       (SELECT max(id) FROM events WHERE type = 'reading' AND at < ?
        GROUP BY session_id, json_extract(data, '$.cycle'), substr(at, 1, 13))`,
    week,
    week,
  )
  run(
    'DELETE FROM taken WHERE at < ? AND (at < ? OR substr(signal_id, 1, ?) <> ?)',
    day,
    year,
    SHOWN_ONCE_PREFIX.length,
    SHOWN_ONCE_PREFIX,
  )
  run('DELETE FROM notices WHERE at < ? AND due_at IS NULL', new Date(now.getTime() - 30 * DAY).toISOString())
  return removed
}
