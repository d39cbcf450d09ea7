import type { SessionRecord } from '../../contract/record.js'
import type { SessionQuery, Store } from '../store.js'
import type { Statement } from './driver.js'
import type { Memory } from './memory.js'

const bodyOf = (row: unknown): SessionRecord => JSON.parse((row as { body: string }).body) as SessionRecord
const isOver = ({ state }: SessionRecord): boolean => state === 'ended' || state === 'unknown'

const SINCE = 'seen_at >= ?1'
/** Those that go on, and those that are over since a time; each has an index of its own. */
const idsOf = (goingOn: string): string =>
  `SELECT session_id FROM sessions WHERE ${goingOn} UNION ALL SELECT session_id FROM sessions WHERE over = 1 AND ${SINCE}`
const WHERE = { any: SINCE, only: 'over = 0', too: `session_id IN (${idsOf('over = 0')})` }

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
      const { seenSince = '', project = null, wantsBrief, goingOn = 'any' } = query
      const wants = wantsBrief ? " AND json_extract(body, '$.briefWanted') IS NOT NULL" : ''
      return sql(
        `SELECT body FROM sessions WHERE ${WHERE[goingOn]} AND coalesce(?2, project) IS project${wants} ORDER BY seen_at DESC, session_id`,
      )
        .all(seenSince, project)
        .map(bodyOf)
    },
    seenSince(time) {
      const rows = sql(idsOf(`over = 0 AND ${SINCE}`)).all(time) as { session_id: string }[]
      return rows.map(({ session_id }) => session_id)
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
