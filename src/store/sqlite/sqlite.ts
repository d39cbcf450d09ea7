import { statSync } from 'node:fs'
import type { Source } from '../../contract/reading.js'
import type { Message } from '../../contract/records/message.js'
import type { SeatRecord, SessionRecord, StoredReading, SubagentRecord } from '../../contract/records/session.js'
import type { Store, SwitchScope } from '../store.js'
import { bodies, inTransaction, type Statement } from './driver.js'
import { type EventRow, eventRows, thinOut } from './events.js'
import { briefRows, handoffRows } from './handoffs.js'
import { makeMemory, NO_MEMORY } from './memory.js'
import { type OpenOptions, openSqlite } from './open.js'
import { archiveRows, compactionRows, jobRows, noticeRows, sessionRows, spendRows } from './tables.js'

interface SeatRow {
  seat_id: string
  name: string | null
  parent_seat_id: string | null
  pid: number | null
  process_started_at: string | null
  created_at: string
}

/** What the data of a `reading` event holds. */
interface ReadingData {
  used_tokens: number
  window_tokens: number | null
  compaction_tokens: number | null
  model: string | null
  source: Source
  exact: boolean
  cycle: number
}

/**
 * A transaction reads a few files at most. More tries than this mean that another process changes
 * the same session all the time.
 */
const MOST_TRIES = 50

/** Thrown to leave a transaction that needs something read outside of it. */
class Lacking extends Error {
  constructor(
    readonly key: string,
    readonly read: () => unknown,
  ) {
    super('what a transaction read was out of date each time')
  }
}

export function openStore(path: string, options: OpenOptions = {}): Store {
  const db = openSqlite(path, options)
  const prepared = new Map<string, Statement>()
  const sql = (text: string): Statement => {
    let statement = prepared.get(text)
    if (!statement) {
      statement = db.prepare(text)
      prepared.set(text, statement)
    }
    return statement
  }
  const body = <T>(row: unknown): T | null => (row ? (JSON.parse((row as { body: string }).body) as T) : null)
  const memory = options.remember ? makeMemory(db) : NO_MEMORY
  let depth = 0
  let isPeeking = false
  /** Remembered inside transactions, where the version was looked at, and for guesses. */
  const recall = <T>(key: string, read: () => T): T => (depth > 0 || isPeeking ? memory.recall(key, read) : read())

  let waiting: (() => void)[] = []
  /** Results of `readUnlocked` for the running transaction, by key. */
  let unlocked = new Map<string, unknown>()
  /**
   * The read that the running transaction asked for and that is still to be done; null when there
   * is none.
   */
  let lacking: Lacking | null = null
  const transaction = <T>(work: () => T, ahead = new Map<string, unknown>()): T => {
    if (depth > 0) return work()
    for (let tries = 1; ; tries++) {
      unlocked = ahead
      lacking = null
      let missing: Lacking
      try {
        return runOnce(() => {
          const result = work()
          // The work has caught the exception as a failure of its own, which it is not.
          if (lacking !== null) throw lacking
          return result
        })
      } catch (error) {
        if (lacking === null || tries === MOST_TRIES) throw error
        missing = lacking
      }
      ahead.set(missing.key, missing.read())
    }
  }
  const runOnce = <T>(work: () => T): T => {
    let result: T
    try {
      result = inTransaction(db, () => {
        depth++
        try {
          memory.check()
          return work()
        } finally {
          depth--
        }
      })
    } catch (error) {
      memory.forget()
      waiting = []
      throw error
    }
    const after = waiting
    waiting = []
    // The transaction is done: what follows it must not look like its failure.
    for (const one of after) {
      try {
        one()
      } catch (error) {
        options.complain?.(error)
      }
    }
    return result
  }

  return {
    transaction,
    inTransaction: () => depth > 0,
    readUnlocked<T>(key: string, read: () => T): T {
      if (depth === 0) return read()
      if (unlocked.has(key)) return unlocked.get(key) as T
      lacking = new Lacking(key, read)
      throw lacking
    },
    peek(work) {
      const before = isPeeking
      isPeeking = true
      try {
        return work()
      } finally {
        isPeeking = before
      }
    },
    afterCommit(work) {
      if (depth > 0) waiting.push(work)
      else work()
    },

    ...sessionRows(sql, { recall, keep: memory.keep }),

    seat: (id) => recall(`seat ${id}`, () => seatOf(sql('SELECT * FROM seats WHERE seat_id = ?').get(id))),
    seatNamed: (name) => seatOf(sql('SELECT * FROM seats WHERE name = ?').get(name)),
    seatOfProcess: (pid, startedAt) =>
      seatOf(
        sql('SELECT * FROM seats WHERE pid = ? AND process_started_at = ? ORDER BY created_at DESC LIMIT 1').get(
          pid,
          startedAt,
        ),
      ),
    putSeat(seat) {
      sql(
        `INSERT INTO seats (seat_id, name, parent_seat_id, pid, process_started_at, created_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (seat_id) DO UPDATE SET name = excluded.name, parent_seat_id = excluded.parent_seat_id, pid = excluded.pid,
           process_started_at = excluded.process_started_at`,
      ).run(
        seat.seatId,
        seat.name,
        seat.parentSeatId,
        seat.process?.pid ?? null,
        seat.process?.startedAt ?? null,
        seat.createdAt,
      )
      memory.keep(`seat ${seat.seatId}`, seat)
    },

    subagents: (id) =>
      recall(`subagents ${id}`, () =>
        bodies<SubagentRecord>(sql('SELECT body FROM subagents WHERE session_id = ? ORDER BY subagent_id').all(id)),
      ),
    putSubagent(record) {
      sql(
        `INSERT INTO subagents (session_id, subagent_id, updated_at, body) VALUES (?, ?, ?, ?)
         ON CONFLICT (session_id, subagent_id) DO UPDATE SET updated_at = excluded.updated_at, body = excluded.body`,
      ).run(record.sessionId, record.subagentId, record.updatedAt, JSON.stringify(record))
      memory.drop(`subagents ${record.sessionId}`)
    },

    readings(id, limit = 1_000_000) {
      const rows = sql(
        "SELECT at, data FROM events WHERE session_id = ? AND type = 'reading' ORDER BY id DESC LIMIT ?",
      ).all(id, limit) as Pick<EventRow, 'at' | 'data'>[]
      return rows.reverse().map((row) => readingOf(id, row.at, JSON.parse(row.data) as ReadingData))
    },

    putMessage(m) {
      sql(
        `INSERT INTO messages (message_id, seat_id, session_id, status, queued_at, body) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (message_id) DO UPDATE SET status = excluded.status, body = excluded.body`,
      ).run(m.message_id, m.seat_id, m.session_id, m.status, m.queued_at, JSON.stringify(m))
      memory.drop(`open ${m.seat_id}`)
    },
    message: (id) => body<Message>(sql('SELECT body FROM messages WHERE message_id = ?').get(id)),
    openMessages: (seatId) =>
      recall(`open ${seatId}`, () =>
        bodies<Message>(
          sql(
            "SELECT body FROM messages WHERE seat_id = ? AND status IN ('queued', 'sent') ORDER BY queued_at, rowid",
          ).all(seatId),
        ),
      ),
    messages({ seatId, limit = 1000 } = {}) {
      const rows = sql(
        'SELECT body FROM messages WHERE (? IS NULL OR seat_id = ?) ORDER BY queued_at DESC, message_id DESC LIMIT ?',
      )
      return bodies<Message>(rows.all(seatId ?? null, seatId ?? null, limit)).reverse()
    },

    takeOnce: (id, at) =>
      Number(sql('INSERT OR IGNORE INTO taken (signal_id, at) VALUES (?, ?)').run(timeFirst(id), at).changes) === 1,

    nearestSwitch: (sessionId, project) =>
      recall(`switch ${sessionId} ${project ?? ''}`, () => {
        const row = sql(
          `SELECT enabled FROM switches WHERE (scope, key) IN (VALUES ('session', ?), ('project', ?), ('all', ''))
           ORDER BY CASE scope WHEN 'session' THEN 0 WHEN 'project' THEN 1 ELSE 2 END LIMIT 1`,
        ).get(sessionId, project ?? '') as { enabled: number } | undefined
        return row ? row.enabled === 1 : null
      }),
    switched(scope: SwitchScope, key: string) {
      const row = sql('SELECT enabled FROM switches WHERE scope = ? AND key = ?').get(scope, key) as
        | { enabled: number }
        | undefined
      return row ? row.enabled === 1 : null
    },
    clearSwitches(scope, keys) {
      if (keys === 'all') sql('DELETE FROM switches WHERE scope = ?').run(scope)
      else for (const key of keys) sql('DELETE FROM switches WHERE scope = ? AND key = ?').run(scope, key)
      memory.forget()
    },
    setSwitch(scope, key, enabled, at) {
      sql(
        'INSERT INTO switches (scope, key, enabled, at) VALUES (?, ?, ?, ?) ON CONFLICT (scope, key) DO UPDATE SET enabled = excluded.enabled, at = excluded.at',
      ).run(scope, key, enabled ? 1 : 0, at)
      memory.forget()
    },

    ...archiveRows(sql),
    ...compactionRows(sql),
    ...eventRows(sql),
    ...briefRows(sql),
    ...handoffRows(sql, { recall, drop: memory.drop }),
    ...jobRows(sql),
    ...noticeRows(sql),
    ...spendRows(sql),
    forgetWords(sessionId) {
      const { forgetting } = options
      if (!forgetting) throw new Error('this store was opened by somebody who forgets nothing')
      return transaction(() => {
        const record = body<SessionRecord>(sql('SELECT body FROM sessions WHERE session_id = ?').get(sessionId))
        const bare = record && forgetting.withoutQuotes(record)
        if (bare) sql('UPDATE sessions SET body = ? WHERE session_id = ?').run(JSON.stringify(bare), sessionId)
        const forgotten = forgetting.forgetWords(db, sql, sessionId)
        memory.forget()
        // The write-ahead log still holds the pages as they were.
        waiting.push(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
        return forgotten + (bare ? 1 : 0)
      })
    },

    thin: (now) => transaction(() => thinOut(db, now)),
    sizes() {
      const count = (what: string): number => (sql(`SELECT count(*) AS n FROM ${what}`).get() as { n: number }).n
      return {
        sessions: count('sessions'),
        readings: count("events WHERE type = 'reading'"),
        events: count('events'),
        messages: count('messages'),
        notices: count('notices'),
        bytes: statSync(path).size,
      }
    },
    close() {
      prepared.clear()
      db.close()
    },
  }
}

/** Ids are made of session, time, process and kind. With the time in front they are written side by side instead of all over the table. */
function timeFirst(signalId: string): string {
  const time = /\.(\d{9,}\.\d+)\./.exec(signalId)
  return time === null ? signalId : `${time[1]} ${signalId}`
}

function seatOf(row: unknown): SeatRecord | null {
  if (!row) return null
  const seat = row as SeatRow
  return {
    seatId: seat.seat_id,
    name: seat.name,
    parentSeatId: seat.parent_seat_id,
    process: seat.pid === null ? null : { pid: seat.pid, startedAt: seat.process_started_at ?? '' },
    createdAt: seat.created_at,
  }
}

function readingOf(sessionId: string, at: string, data: ReadingData): StoredReading {
  return {
    sessionId,
    cycle: data.cycle,
    at,
    used: data.used_tokens,
    window: data.window_tokens,
    point: data.compaction_tokens,
    model: data.model,
    source: data.source,
    exact: data.exact,
  }
}
