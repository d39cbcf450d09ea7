/** Between two tellings of one row. */
export const ROW_MS = 1_000

/** A row as it is told, with words and without. null: it is not told there. */
export interface RowText {
  words: string
  figures: string | null
}

interface Row {
  now: RowText
  told: RowText | null
  toldAt: number
  /** It may have changed since it was looked at. */
  isTouched: boolean
}

export interface Rows {
  touch(id: string): void
  /** Touches the next few of all, so that each has its turn after `turns` calls: what changes without an event is found too. */
  touchSome(turns: number): void
  /** What has changed since it was told, and may be told again. */
  due(now: number): RowText[]
  /** All as they are now, for one who knows nothing yet. */
  all(): RowText[]
}

/**
 * Rows as clients know them. One is looked at when something touched it, and told when it is not what was told last: not more often than
 * `ROW_MS`, and then the newest. `look` gives null for what is no longer shown.
 */
export function makeRows(first: Iterable<readonly [id: string, text: RowText]>, look: (id: string) => RowText | null): Rows {
  const rows = new Map<string, Row>()
  for (const [id, text] of first) rows.set(id, { now: text, told: text, toldAt: Number.NEGATIVE_INFINITY, isTouched: false })
  let turn: Iterator<string> = rows.keys()

  const refresh = (id: string, row: Row): void => {
    if (!row.isTouched) return
    const text = look(id)
    row.isTouched = false
    if (text === null) rows.delete(id)
    else row.now = text
  }

  return {
    touch(id) {
      const row = rows.get(id)
      if (row) {
        row.isTouched = true
        return
      }
      const text = look(id)
      if (text !== null) rows.set(id, { now: text, told: null, toldAt: Number.NEGATIVE_INFINITY, isTouched: false })
    },
    touchSome(turns) {
      for (let left = Math.ceil(rows.size / turns); left > 0; left--) {
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
      const due: RowText[] = []
      for (const [id, row] of rows) {
        if (now - row.toldAt < ROW_MS) continue
        refresh(id, row)
        const { words, figures } = row.now
        if (row.told?.words === words && row.told.figures === figures) continue
        due.push({ words, figures: row.told?.figures === figures ? null : figures })
        row.told = row.now
        row.toldAt = now
      }
      return due
    },
    all() {
      for (const [id, row] of rows) refresh(id, row)
      return [...rows.values()].map((row) => row.now)
    },
  }
}
