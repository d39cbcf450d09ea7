import { statSync } from 'node:fs'
import type { ReadingSource } from '../../contract/reading.js'
import type { Message } from '../../contract/records/message.js'
import type { SeatRecord, SessionRecord, StoredReading, SubagentRecord } from '../../contract/records/session.js'
import type { Store, SwitchScope } from '../store.js'
import { inTransaction, parseBodies, type Statement } from './driver.js'
import { deleteOldRows, type EventRow, eventRows } from './events.js'
import { briefRows, handoffRows } from './handoffs.js'
import { makeRecordCache, NO_CACHE } from './memory.js'
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

/** Data of a `reading` event. */
interface ReadingData {
  used_tokens: number
  window_tokens: number | null
  compaction_tokens: number | null
  model: string | null
  source: ReadingSource
  exact: boolean
  cycle: number
}

/**
 * Limit of runs per transaction. A transaction reads a few files at most.
 * More runs mean that another process keeps changing the same session.
 */
const MAX_RUNS = 50

/** Thrown to leave a transaction that needs a file read outside of the transaction. */
class UnlockedReadNeeded extends Error {
  constructor(
    readonly key: string,
    readonly read: () => unknown,
  ) {
    super('a transaction was retried, but its data changed each time')
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
  const cache = options.cacheRecords ? makeRecordCache(db) : NO_CACHE
  let depth = 0
  let isPeeking = false
  /** Uses the cache only inside transactions, which validate it, and inside `peek`. */
  const getOrRead = <T>(key: string, read: () => T): T => (depth > 0 || isPeeking ? cache.getOrRead(key, read) : read())

  let afterCommitCallbacks: (() => void)[] = []
  /**
   * Results of file reads outside the lock (`readUnlocked`) for the running transaction, by key.
   */
  let unlocked = new Map<string, unknown>()
  /** The file read for which the running transaction must be left. Null when there is none. */
  let pendingRead: UnlockedReadNeeded | null = null
  const transaction = <T>(work: () => T, preloaded = new Map<string, unknown>()): T => {
    if (depth > 0) return work()
    for (let runs = 1; ; runs++) {
      unlocked = preloaded
      pendingRead = null
      let missing: UnlockedReadNeeded
      try {
        return runTransaction(() => {
          const result = work()
          // `work` caught this exception as if it were its own failure, so throw it again.
          if (pendingRead !== null) throw pendingRead
          return result
        })
      } catch (error) {
        if (pendingRead === null || runs === MAX_RUNS) throw error
        missing = pendingRead
      }
      preloaded.set(missing.key, missing.read())
    }
  }
  const runTransaction = <T>(work: () => T): T => {
    let result: T
    try {
      result = inTransaction(db, () => {
        depth++
        try {
          cache.clearIfStale()
          return work()
        } finally {
          depth--
        }
      })
    } catch (error) {
      cache.clear()
      afterCommitCallbacks = []
      throw error
    }
    const callbacks = afterCommitCallbacks
    afterCommitCallbacks = []
    // The transaction is committed. Errors of these callbacks must not look like its failure.
    for (const one of callbacks) {
      try {
        one()
      } catch (error) {
        options.onAfterCommitError?.(error)
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
      pendingRead = new UnlockedReadNeeded(key, read)
      throw pendingRead
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
      if (depth > 0) afterCommitCallbacks.push(work)
      else work()
    },

    ...sessionRows(sql, { getOrRead, set: cache.set }),

    seat: (id) => getOrRead(`seat ${id}`, () => seatOf(sql('SELECT * FROM seats WHERE seat_id = ?').get(id))),
    seatByName: (name) => seatOf(sql('SELECT * FROM seats WHERE name = ?').get(name)),
    seatOfProcess: (pid, startedAt) =>
      seatOf(
        sql('SELECT * FROM seats WHERE pid = ? AND process_started_at = ? ORDER BY created_at DESC LIMIT 1').get(
          pid,
          startedAt,
        ),
      ),
    putSeat(seat) {
      sql(
        `INSERT INTO seats (seat_id, name, parent_seat_id, pid, process_started_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (seat_id) DO UPDATE
           SET name = excluded.name, parent_seat_id = excluded.parent_seat_id, pid = excluded.pid,
           process_started_at = excluded.process_started_at`,
      ).run(
        seat.seatId,
        seat.name,
        seat.parentSeatId,
        seat.process?.pid ?? null,
        seat.process?.startedAt ?? null,
        seat.createdAt,
      )
      cache.set(`seat ${seat.seatId}`, seat)
    },

    subagents: (id) =>
      getOrRead(`subagents ${id}`, () =>
        parseBodies<SubagentRecord>(
          sql('SELECT body FROM subagents WHERE session_id = ? ORDER BY subagent_id').all(id),
        ),
      ),
    putSubagent(record) {
      sql(
        `INSERT INTO subagents (session_id, subagent_id, updated_at, body) VALUES (?, ?, ?, ?)
         ON CONFLICT (session_id, subagent_id) DO UPDATE SET updated_at = excluded.updated_at, body = excluded.body`,
      ).run(record.sessionId, record.subagentId, record.updatedAt, JSON.stringify(record))
      cache.drop(`subagents ${record.sessionId}`)
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
      cache.drop(`open ${m.seat_id}`)
    },
    message: (id) => body<Message>(sql('SELECT body FROM messages WHERE message_id = ?').get(id)),
    openMessages: (seatId) =>
      getOrRead(`open ${seatId}`, () =>
        parseBodies<Message>(
          sql(
            "SELECT body FROM messages WHERE seat_id = ? AND status IN ('queued', 'sent') ORDER BY queued_at, rowid",
          ).all(seatId),
        ),
      ),
    messages({ seatId, limit = 1000 } = {}) {
      const rows = sql(
        'SELECT body FROM messages WHERE (? IS NULL OR seat_id = ?) ORDER BY queued_at DESC, message_id DESC LIMIT ?',
      )
      return parseBodies<Message>(rows.all(seatId ?? null, seatId ?? null, limit)).reverse()
    },

    claimOnce: (id, at) =>
      Number(sql('INSERT OR IGNORE INTO taken (signal_id, at) VALUES (?, ?)').run(timeFirst(id), at).changes) === 1,

    nearestSwitch: (sessionId, project) =>
      getOrRead(`switch ${sessionId} ${project ?? ''}`, () => {
        const row = sql(
          `SELECT enabled FROM switches WHERE (scope, key) IN (VALUES ('session', ?), ('project', ?), ('all', ''))
           ORDER BY CASE scope WHEN 'session' THEN 0 WHEN 'project' THEN 1 ELSE 2 END LIMIT 1`,
        ).get(sessionId, project ?? '') as { enabled: number } | undefined
        return row ? row.enabled === 1 : null
      }),
    switchState(scope: SwitchScope, key: string) {
      const row = sql('SELECT enabled FROM switches WHERE scope = ? AND key = ?').get(scope, key) as
        | { enabled: number }
        | undefined
      return row ? row.enabled === 1 : null
    },
    clearSwitches(scope, keys) {
      if (keys === 'all') sql('DELETE FROM switches WHERE scope = ?').run(scope)
      else for (const key of keys) sql('DELETE FROM switches WHERE scope = ? AND key = ?').run(scope, key)
      cache.clear()
    },
    setSwitch(scope, key, enabled, at) {
      sql(
        'INSERT INTO switches (scope, key, enabled, at) VALUES (?, ?, ?, ?) ON CONFLICT (scope, key) DO UPDATE SET ' +
          'enabled = excluded.enabled, at = excluded.at',
      ).run(scope, key, enabled ? 1 : 0, at)
      cache.clear()
    },

    ...archiveRows(sql),
    ...compactionRows(sql),
    ...eventRows(sql),
    ...briefRows(sql),
    ...handoffRows(sql, { getOrRead, drop: cache.drop }),
    ...jobRows(sql),
    ...noticeRows(sql),
    ...spendRows(sql),
    eraseQuotes(sessionId) {
      const { quoteEraser } = options
      if (!quoteEraser) throw new Error('this store was opened without permission to forget')
      return transaction(() => {
        const record = body<SessionRecord>(sql('SELECT body FROM sessions WHERE session_id = ?').get(sessionId))
        const bare = record && quoteEraser.withoutQuotes(record)
        if (bare) sql('UPDATE sessions SET body = ? WHERE session_id = ?').run(JSON.stringify(bare), sessionId)
        const forgotten = quoteEraser.eraseQuotes(db, sql, sessionId)
        cache.clear()
        // The write-ahead log still contains the old pages, so truncate the log.
        afterCommitCallbacks.push(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
        return forgotten + (bare ? 1 : 0)
      })
    },

    deleteOldRows: (now) => transaction(() => deleteOldRows(db, now)),
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

/**
 * Moves the time in a signal id to the front.
 * Ids consist of session, time, process and kind.
 * Sorted by time, new rows are stored side by side.
 */
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
