/** Between two tellings of one row. */
export const ROW_MS = 1_000
/** Looked at in one go: with hundreds of busy sessions each waits its turn, and nobody waits for all of them. */
export const MOST_ROWS = 25
const MOST_TURNS = 5

/** A row as JSON. */
export type RowText = string

/** `text` null: it was told before, and is no longer shown. */
export interface RowChange {
  id: string
  text: RowText | null
}

interface Row {
  /** null: not looked at yet. */
  now: RowText | null
  told: RowText | null
  toldAt: number
  lookedAt: number
  /** It may have changed since it was looked at. */
  isTouched: boolean
}

export interface Rows {
  touch(id: string): void
  /** Touches the next few of all, so that each has its turn after `turns` calls, or later where there are many: what changes without an event is found too. */
  touchSome(turns: number): void
  /** What has changed since it was told, and may be told again; what is gone first. */
  due(now: number): RowChange[]
  /** All as they are now, for one who knows nothing yet. */
  all(): RowText[]
}

const NEVER = { toldAt: Number.NEGATIVE_INFINITY, lookedAt: Number.NEGATIVE_INFINITY }

/**
 * Rows as clients know them. One is looked at when something touched it, and told when it is not what was told last: not more often than
 * `ROW_MS`, and then the newest. `look` gives null for what is no longer shown: that is told once. One that it cannot look at is left as it was, and looked at
 * again a second later: the others are told all the same.
 */
export function makeRows(
  first: Iterable<readonly [id: string, text: RowText]>,
  look: (id: string) => RowText | null,
  complain: (error: unknown) => void,
): Rows {
  const rows = new Map<string, Row>()
  for (const [id, text] of first) rows.set(id, { now: text, told: text, ...NEVER, isTouched: false })
  let turn: Iterator<string> = rows.keys()
  /** Shown to somebody, and not any more. */
  const gone = new Set<string>()

  /** False: it could not be looked at. */
  const refresh = (id: string, row: Row): boolean => {
    if (!row.isTouched) return true
    try {
      const text = look(id)
      row.isTouched = false
      if (text === null) {
        rows.delete(id)
        if (row.now !== null) gone.add(id)
      } else row.now = text
      return true
    } catch (error) {
      complain(error)
      return false
    }
  }

  return {
    touch(id) {
      const row = rows.get(id)
      if (row) row.isTouched = true
      else rows.set(id, { now: null, told: null, ...NEVER, isTouched: true })
    },
    touchSome(turns) {
      for (let left = Math.min(Math.ceil(rows.size / turns), MOST_TURNS); left > 0; left--) {
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
        ([, row]) => now - row.toldAt >= ROW_MS && (row.isTouched || row.now !== row.told),
      )
      const turn = waiting.sort(([, a], [, b]) => a.lookedAt - b.lookedAt || 0).slice(0, MOST_ROWS)
      const changed = turn.flatMap(([id, row]): RowChange[] => {
        row.lookedAt = now
        if (!refresh(id, row)) {
          row.toldAt = now
          return []
        }
        const { now: text, told } = row
        row.told = text
        if (text === null || !rows.has(id) || told === text) return []
        row.toldAt = now
        return [{ id, text }]
      })
      const left = [...gone].map((id) => ({ id, text: null }))
      gone.clear()
      return [...left, ...changed]
    },
    all() {
      for (const [id, row] of rows) refresh(id, row)
      return [...rows.values()].flatMap((row) => row.now ?? [])
    },
  }
}
