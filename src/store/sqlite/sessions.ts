import type { SessionRecord } from '../../contract/record.js'
import type { SessionQuery, Store } from '../store.js'
import type { Statement } from './driver.js'
import type { Memory } from './memory.js'

const bodyOf = (row: unknown): SessionRecord => JSON.parse((row as { body: string }).body) as SessionRecord
const isOver = ({ state }: SessionRecord): boolean => state === 'ended' || state === 'unknown'

// Each has an index of its own, which SQLite uses only for what says literally the same.
const GOING_ON = 'over = 0'
const OVER_SINCE = 'over = 1 AND seen_at >= ?'

type SessionPart = 'session' | 'sessions' | 'seenSince' | 'chain' | 'putSession'

/** The store's part about sessions. */
export function sessionRows(sql: (text: string) => Statement, memory: Pick<Memory, 'recall' | 'keep'>): Pick<Store, SessionPart> {
  const { recall, keep } = memory
  return {
    session: (id) =>
      recall(`session ${id}`, () => {
        const row = sql('SELECT body FROM sessions WHERE session_id = ?').get(id)
        return row ? bodyOf(row) : null
      }),
    sessions(query: SessionQuery = {}) {
      const { seenSince = '', project = null, wantsBrief, goingOn } = query
      const more = `(? IS NULL OR project = ?)${wantsBrief ? " AND json_extract(body, '$.briefWanted') IS NOT NULL" : ''}`
      const of = (where: string): string => `SELECT seen_at, session_id, body FROM sessions WHERE ${where} AND ${more}`
      const ordered = (from: string): Statement => sql(`SELECT body FROM (${from}) ORDER BY seen_at DESC, session_id`)
      if (goingOn === undefined) return ordered(of('seen_at >= ?')).all(seenSince, project, project).map(bodyOf)
      if (goingOn === 'only') return ordered(of(GOING_ON)).all(project, project).map(bodyOf)
      const both = `${of(GOING_ON)} UNION ALL ${of(OVER_SINCE)}`
      return ordered(both).all(project, project, seenSince, project, project).map(bodyOf)
    },
    seenSince(time) {
      const ids = 'SELECT session_id FROM sessions WHERE'
      const rows = sql(`${ids} ${GOING_ON} AND seen_at >= ? UNION ALL ${ids} ${OVER_SINCE}`).all(time, time)
      return (rows as { session_id: string }[]).map(({ session_id }) => session_id)
    },
    chain: (seatId) => sql('SELECT body FROM sessions WHERE seat_id = ? ORDER BY started_at, session_id').all(seatId).map(bodyOf),
    putSession(record) {
      const json = JSON.stringify(record)
      const over = isOver(record) ? 1 : 0
      // Told apart from what follows because it leaves the indexes alone, and nearly every signal comes this way.
      const known = sql(
        'UPDATE sessions SET project = ?, seen_at = ?, body = ? WHERE session_id = ? AND seat_id = ? AND over = ?',
      )
      if (Number(known.run(record.project, record.seenAt, json, record.sessionId, record.seatId, over).changes) === 0) {
        sql(
          `INSERT INTO sessions (session_id, seat_id, project, seen_at, started_at, body, over) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (session_id) DO UPDATE SET seat_id = excluded.seat_id, project = excluded.project, seen_at = excluded.seen_at,
             body = excluded.body, over = excluded.over`,
        ).run(record.sessionId, record.seatId, record.project, record.seenAt, record.startedAt, json, over)
      }
      keep(`session ${record.sessionId}`, record)
    },
  }
}
