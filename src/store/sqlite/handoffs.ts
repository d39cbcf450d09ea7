import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { Store } from '../store.js'
import { parseBodies, type Statement } from './driver.js'
import type { RecordCache } from './memory.js'

const NO_LIMIT = 1_000_000

type BriefPart = 'brief' | 'briefs' | 'briefsUsedBy' | 'putBrief' | 'nextBriefSequence' | 'dropBriefs'

/** Store methods for briefs. */
export function briefRows(sql: (text: string) => Statement): Pick<Store, BriefPart> {
  return {
    brief: (id) => parseBodies<BriefRecord>(sql('SELECT body FROM briefs WHERE brief_id = ?').all(id))[0] ?? null,
    briefs({ seatId, sessionId, limit = NO_LIMIT } = {}) {
      const newest = (where: string, order: string, ...values: string[]): BriefRecord[] =>
        parseBodies<BriefRecord>(
          sql(`SELECT body FROM briefs ${where} ORDER BY ${order} LIMIT ?`).all(...values, Math.max(0, limit)),
        ).reverse()
      const byTime = 'taken_at DESC, rowid DESC'
      if (seatId !== undefined && sessionId !== undefined)
        return newest('WHERE seat_id = ? AND session_id = ?', 'sequence DESC', seatId, sessionId)
      if (seatId !== undefined) return newest('WHERE seat_id = ?', 'sequence DESC', seatId)
      if (sessionId !== undefined) return newest('WHERE session_id = ?', byTime, sessionId)
      return newest('', byTime)
    },
    briefsUsedBy: (sessionId) =>
      parseBodies<BriefRecord>(
        sql(
          `SELECT body FROM briefs WHERE json_extract(body, '$.usedBySessionId') = ?
           ORDER BY json_extract(body, '$.usedAt'), rowid`,
        ).all(sessionId),
      ),
    putBrief(b) {
      sql(
        `INSERT INTO briefs (brief_id, seat_id, sequence, session_id, taken_at, body) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (brief_id) DO UPDATE SET seat_id = excluded.seat_id, sequence = excluded.sequence,
           session_id = excluded.session_id, taken_at = excluded.taken_at, body = excluded.body`,
      ).run(b.briefId, b.seatId, b.sequence, b.sessionId, b.takenAt, JSON.stringify(b))
    },
    nextBriefSequence(seatId) {
      const last = sql(
        `SELECT max(coalesce((SELECT max(sequence) FROM briefs WHERE seat_id = ?), 0),
           coalesce((SELECT sequence FROM forgotten_briefs WHERE seat_id = ?), 0)) AS last`,
      ).get(seatId, seatId) as { last: number }
      return last.last + 1
    },
    dropBriefs(sessionId) {
      sql(
        `INSERT INTO forgotten_briefs (seat_id, sequence) SELECT seat_id, max(sequence) FROM briefs
         WHERE session_id = ? GROUP BY seat_id
         ON CONFLICT (seat_id) DO UPDATE SET sequence = max(sequence, excluded.sequence)`,
      ).run(sessionId)
      sql('DELETE FROM briefs WHERE session_id = ?').run(sessionId)
    },
  }
}

type HandoffPart = 'handoff' | 'handoffs' | 'openHandoffs' | 'dueHandoffs' | 'putHandoff'

/** Store methods for handoffs. `cache` remembers records inside a transaction. */
export function handoffRows(
  sql: (text: string) => Statement,
  cache: Pick<RecordCache, 'getOrRead' | 'drop'>,
): Pick<Store, HandoffPart> {
  return {
    handoff: (id) =>
      parseBodies<HandoffRecord>(sql('SELECT body FROM handoffs WHERE handoff_id = ?').all(id))[0] ?? null,
    handoffs({ seatId, sessionId, limit = NO_LIMIT } = {}) {
      const wanted = [
        seatId === undefined ? '' : 'seat_id = ?',
        sessionId === undefined ? '' : 'session_id = ?',
      ].filter(Boolean)
      const where = wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`
      const values = [seatId, sessionId].filter((value) => value !== undefined)
      const rows = sql(`SELECT body FROM handoffs ${where} ORDER BY requested_at DESC, rowid DESC LIMIT ?`)
      return parseBodies<HandoffRecord>(rows.all(...values, Math.max(0, limit))).reverse()
    },
    openHandoffs({ seatId } = {}) {
      if (seatId === undefined)
        return parseBodies<HandoffRecord>(
          sql('SELECT body FROM handoffs WHERE open = 1 ORDER BY requested_at, rowid').all(),
        )
      return cache.getOrRead(`handoffs ${seatId}`, () =>
        parseBodies<HandoffRecord>(
          sql('SELECT body FROM handoffs WHERE seat_id = ? AND open = 1 ORDER BY requested_at, rowid').all(seatId),
        ),
      )
    },
    dueHandoffs: (now) =>
      parseBodies<HandoffRecord>(
        sql('SELECT body FROM handoffs WHERE open = 1 AND due_at <= ? ORDER BY due_at, rowid').all(now),
      ),
    putHandoff(h) {
      sql(
        `INSERT INTO handoffs (handoff_id, seat_id, session_id, requested_at, due_at, open, body)
         VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (handoff_id) DO UPDATE
           SET session_id = excluded.session_id, due_at = excluded.due_at, open = excluded.open,
           body = excluded.body`,
      ).run(h.handoffId, h.seatId, h.sessionId, h.requestedAt, h.dueAt, isOpen(h) ? 1 : 0, JSON.stringify(h))
      cache.drop(`handoffs ${h.seatId}`)
    },
  }
}

function isOpen({ state }: HandoffRecord): boolean {
  return state !== 'done' && state !== 'failed' && state !== 'cancelled'
}
