/** Minimum time between two messages of one row. */
export const MIN_ROW_INTERVAL_MS = 1_000
/** Maximum number of rows read per tick, so that hundreds of busy sessions do not block it. */
export const MAX_ROWS_PER_TICK = 25
const MAX_TOUCHED = 5

/** A row of a list, as JSON text. */
export type RowText = string

/** Change of a list row. `text` is null when the row is no longer listed. */
export interface RowChange {
  id: string
  text: RowText | null
}

interface Row {
  /** Current text of the row. Null before the row was first read. */
  now: RowText | null
  sent: RowText | null
  sentAt: number
  readAt: number
  /** True when the row may have changed since it was read. */
  isTouched: boolean
}

export interface RowTracker {
  touch(id: string): void
  /**
   * Marks the next few rows as touched, so that each is read once in about `turns` calls.
   * Changes without an event are found in this way.
   */
  touchSome(turns: number): void
  /** Returns the changed rows that may be sent now, removed ones first. */
  due(now: number): RowChange[]
  /** Returns all rows as they are now, for a new client. */
  all(): RowText[]
}

const NEVER = { sentAt: Number.NEGATIVE_INFINITY, readAt: Number.NEGATIVE_INFINITY }

/**
 * Tracks the rows that clients have received.
 * A touched row is read again, at most once per `MIN_ROW_INTERVAL_MS`, and sent if it differs.
 * `read` returns null for a row that is no longer listed. That is sent once.
 * A row that cannot be read stays as it was and is read again a second later.
 */
export function makeRowTracker(
  first: Iterable<readonly [id: string, text: RowText]>,
  read: (id: string) => RowText | null,
  logFailure: (error: unknown) => void,
): RowTracker {
  const rows = new Map<string, Row>()
  for (const [id, text] of first) rows.set(id, { now: text, sent: text, ...NEVER, isTouched: false })
  let turn: Iterator<string> = rows.keys()
  /** Ids of rows that clients have and that are no longer listed. */
  const gone = new Set<string>()

  /** Reads a touched row again. Returns false when that failed. */
  const refresh = (id: string, row: Row): boolean => {
    if (!row.isTouched) return true
    try {
      const text = read(id)
      row.isTouched = false
      if (text === null) {
        rows.delete(id)
        if (row.now !== null) gone.add(id)
      } else row.now = text
      return true
    } catch (error) {
      logFailure(error)
      return false
    }
  }

  return {
    touch(id) {
      const row = rows.get(id)
      if (row) row.isTouched = true
      else rows.set(id, { now: null, sent: null, ...NEVER, isTouched: true })
    },
    touchSome(turns) {
      for (let left = Math.min(Math.ceil(rows.size / turns), MAX_TOUCHED); left > 0; left--) {
        let next = turn.next()
        if (next.done) {
          turn = rows.keys()
          next = turn.next()
        }
        if (next.done) return
        const row = rows.get(next.value)
        if (row) row.isTouched = true
      }
    },
    due(now) {
      const waiting = [...rows].filter(
        ([, row]) => now - row.sentAt >= MIN_ROW_INTERVAL_MS && (row.isTouched || row.now !== row.sent),
      )
      const turn = waiting.sort(([, a], [, b]) => a.readAt - b.readAt || 0).slice(0, MAX_ROWS_PER_TICK)
      const changed = turn.flatMap(([id, row]): RowChange[] => {
        row.readAt = now
        if (!refresh(id, row)) {
          row.sentAt = now
          return []
        }
        const { now: text, sent } = row
        row.sent = text
        if (text === null || !rows.has(id) || sent === text) return []
        row.sentAt = now
        return [{ id, text }]
      })
      const removed = [...gone].map((id) => ({ id, text: null }))
      gone.clear()
      return [...removed, ...changed]
    },
    all() {
      for (const [id, row] of rows) refresh(id, row)
      return [...rows.values()].flatMap((row) => row.now ?? [])
    },
  }
}
