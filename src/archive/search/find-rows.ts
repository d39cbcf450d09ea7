import { HIT_KINDS, type HitKind } from '../../contract/records/archive.js'
import type { SearchIndex } from './open-index.js'
import { type SearchTerm, toMatchExpression } from './parse-query.js'

export interface IndexRow {
  id: number
  off: number
  len: number
  line: number
  kind: HitKind
  nth: number
  stream: string
}

/** A term in more rows than this says little about any of them, and counting all would be slow. */
const COMMON = 5_000
/** Number of newest rows considered when all terms are common. */
const NEWEST = 1_000
/** Number of best rows that are weighted by kind. */
const BEST = 400

/** Weight of an entry's kind: what people said is sought more often than what tools printed. */
export const KIND_WEIGHT: Record<HitKind, number> = {
  prompt: 1.5,
  answer: 1.25,
  command: 1.1,
  summary: 1,
  result: 1,
  call: 0.8,
  other: 0.5,
}

/**
 * Returns the rows that contain every term, best first. Null `streams` searches all streams.
 * Ranks rows by bm25 over the rare terms, by kind, and by whether the terms stand together.
 * If every term is common, ranks only the newest rows, by kind and age.
 */
export function findRows(
  index: SearchIndex,
  terms: readonly SearchTerm[],
  streams: ReadonlySet<string> | null,
): IndexRow[] {
  const matches = terms.map(toMatchExpression)
  const ranges = streams === null ? null : rangesOf(index, streams)
  const rare = matches.filter((match) => !isCommon(index, match))
  const together = rare.length > 0 ? rowsTogether(index, terms) : new Set<number>()
  const ids =
    rare.length > 0 ? byRarity(index, matches, rare, ranges) : newestFirst(index, matches.join(' AND '), ranges)
  const weighed = ids.flatMap(({ id, score }) => {
    const row = rowOf(index, id)
    return row ? [{ row, score: score * KIND_WEIGHT[row.kind] * (together.has(id) ? 2 : 1) }] : []
  })
  return weighed.sort((a, b) => b.score - a.score || b.row.id - a.row.id).map(({ row }) => row)
}

interface Scored {
  id: number
  score: number
}

/** Rows that belong to a search, both ends included. */
export interface Range {
  first: number
  last: number
}

/** Returns rows that contain the whole query as one phrase, as typed. */
function rowsTogether(index: SearchIndex, terms: readonly SearchTerm[]): ReadonlySet<number> {
  if (terms.length < 2) return new Set()
  const match = toMatchExpression({ words: terms.map(({ words }) => words).join(' '), prefix: terms.at(-1)!.prefix })
  const rows = index
    .sql('SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?')
    .all(match, NEWEST) as {
    id: number
  }[]
  return new Set(rows.map(({ id }) => id))
}

function isCommon(index: SearchIndex, match: string): boolean {
  return index.sql('SELECT rowid FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?').get(match, COMMON) !== undefined
}

function byRarity(
  index: SearchIndex,
  matches: readonly string[],
  rare: readonly string[],
  ranges: Range[] | null,
): Scored[] {
  const scored = index
    .sql('SELECT rowid AS id, -bm25(words) AS score FROM words WHERE words MATCH ?')
    .all(rare.join(' AND ')) as Scored[]
  const within = ranges === null ? scored : scored.filter(({ id }) => isWithin(ranges, id))
  const best = within.sort((a, b) => b.score - a.score)
  if (rare.length === matches.length) return best.slice(0, BEST)
  const all = new Set(
    (index.sql('SELECT rowid AS id FROM words WHERE words MATCH ?').all(matches.join(' AND ')) as Scored[]).map(
      ({ id }) => id,
    ),
  )
  return best.filter(({ id }) => all.has(id)).slice(0, BEST)
}

function newestFirst(index: SearchIndex, match: string, ranges: Range[] | null): Scored[] {
  const found: Scored[] = []
  for (const { first, last } of (ranges ?? [{ first: 0, last: Number.MAX_SAFE_INTEGER }]).toReversed()) {
    const rows = index
      .sql(
        'SELECT rowid AS id, 1 AS score FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid ' +
          'DESC LIMIT ?',
      )
      .all(match, first, last, NEWEST - found.length) as Scored[]
    found.push(...rows)
    if (found.length >= NEWEST) break
  }
  return found
}

/** Returns the row ranges of the streams in order, adjacent ranges merged. */
export function rangesOf(index: SearchIndex, streams: ReadonlySet<string>): Range[] {
  const all = [...streams].flatMap(
    (stream) => index.sql('SELECT first, last FROM spans WHERE stream = ?').all(stream) as Range[],
  )
  const ranges: Range[] = []
  for (const { first, last } of all.sort((a, b) => a.first - b.first)) {
    const before = ranges.at(-1)
    if (before && before.last + 1 === first) before.last = last
    else ranges.push({ first, last })
  }
  return ranges
}

function isWithin(ranges: readonly Range[], id: number): boolean {
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const { first, last } = ranges[middle]!
    if (id < first) high = middle - 1
    else if (id > last) low = middle + 1
    else return true
  }
  return false
}

const ROW = `SELECT id, off, len, line, kind, nth,
    (SELECT stream FROM spans WHERE first <= id ORDER BY first DESC LIMIT 1) AS stream
  FROM entries WHERE id`

type StoredRow = Omit<IndexRow, 'kind'> & { kind: number }

const withKind = (row: StoredRow): IndexRow => ({ ...row, kind: HIT_KINDS[row.kind]! })

function rowOf(index: SearchIndex, id: number): IndexRow | null {
  const row = index.sql(`${ROW} = ?`).get(id) as StoredRow | undefined
  return row ? withKind(row) : null
}

/** Returns the rows that exist of these, by id. */
export function rowsOf(index: SearchIndex, ids: readonly number[]): Map<number, IndexRow> {
  const rows = index.sql(`${ROW} IN (SELECT value FROM json_each(?))`).all(JSON.stringify(ids)) as StoredRow[]
  return new Map(rows.map((row) => [row.id, withKind(row)]))
}
