import type { HitKind } from '../../contract/records/archive.js'
import { type IndexRow, KIND_WEIGHT, type Range, rangesOf, rowsOf } from './find-rows.js'
import type { SearchIndex } from './open-index.js'
import type { QueryWord } from './query-words.js'

/** Number of newest rows in which a word is searched. Bounds the time for very common words. */
const MOST_ROWS = 5_000
/** Rows that are ranked with the words of their neighbours. */
const MOST_NEIGHBOURED = 1_500

/** Share of a word's rarity when a neighbouring row contains it, by distance. */
const NEIGHBOUR_SHARE = [1, 0.45, 0.25]

/** A row that contains some words of the query. */
export interface RankedRow {
  row: IndexRow
  /** Sum over the words of their rarity, in the row or near it. */
  score: number
}

/** A word with the rarity that the index shows. */
export interface RatedWord extends QueryWord {
  rarity: number
}

/**
 * Returns rows that contain any of the words, best first, at most `most`.
 * Ranked by the rarity of the words in the row and in the rows beside it, and by kind.
 * Reads the index only. Null `streams` searches all streams.
 */
export function rankRows(
  index: SearchIndex,
  words: readonly QueryWord[],
  streams: ReadonlySet<string> | null,
  most: number,
): { rows: RankedRow[]; words: RatedWord[] } {
  const ranges = streams === null ? null : rangesOf(index, streams)
  const total = Math.max(1, ranges === null ? newestRow(index) : countOf(ranges))
  const rated: RatedWord[] = []
  /** Which words each row contains, as bits. */
  const found = new Map<number, number>()
  for (const [at, word] of words.entries()) {
    const said = idsOf(index, word.match, ranges)
    const ids = word.forms === null || said.length >= MOST_ROWS ? said : idsOf(index, word.forms, ranges)
    const rarity = Math.log(1 + (total - ids.length + 0.5) / (ids.length + 0.5)) * word.weight
    rated.push({ ...word, rarity })
    for (const id of ids) found.set(id, (found.get(id) ?? 0) | (1 << at))
  }
  const sums = new Map<number, number>()
  const sumOf = (bits: number): number => {
    const known = sums.get(bits)
    if (known !== undefined) return known
    const sum = rated.reduce((all, { rarity }, at) => (bits & (1 << at) ? all + rarity : all), 0)
    sums.set(bits, sum)
    return sum
  }
  const candidates = [...found]
    .map(([id, bits]) => ({ id, sum: sumOf(bits) }))
    .sort((a, b) => b.sum - a.sum || b.id - a.id)
    .slice(0, MOST_NEIGHBOURED)
  const scored = candidates.map(({ id }) => {
    let seen = 0
    let score = 0
    for (const [distance, share] of NEIGHBOUR_SHARE.entries()) {
      const bits = ((found.get(id - distance) ?? 0) | (found.get(id + distance) ?? 0)) & ~seen
      score += sumOf(bits) * share
      seen |= bits
    }
    return { id, score }
  })
  const kinds = rowsOf(
    index,
    scored.map(({ id }) => id),
  )
  const rows = scored.flatMap(({ id, score }) => {
    const row = kinds.get(id)
    return row ? [{ row, score: score * weightOf(row.kind) }] : []
  })
  return { rows: rows.sort((a, b) => b.score - a.score || b.row.id - a.row.id).slice(0, most), words: rated }
}

/** Kinds differ less here than where all words occur, because results often hold the answer. */
const weightOf = (kind: HitKind): number => Math.sqrt(KIND_WEIGHT[kind])

/** Returns the newest rows that contain a word, up to a bound. */
function idsOf(index: SearchIndex, match: string, ranges: readonly Range[] | null): number[] {
  const ids: number[] = []
  for (const { first, last } of (ranges ?? [{ first: 0, last: Number.MAX_SAFE_INTEGER }]).toReversed()) {
    const { all } = index
      .sql(
        'SELECT group_concat(id) AS "all" FROM (SELECT rowid AS id FROM words WHERE words MATCH ? AND rowid ' +
          'BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)',
      )
      .get(match, first, last, MOST_ROWS - ids.length) as { all: string | null }
    if (all !== null) for (const id of all.split(',')) ids.push(Number(id))
    if (ids.length >= MOST_ROWS) break
  }
  return ids
}

const newestRow = (index: SearchIndex): number =>
  (index.sql('SELECT max(id) AS id FROM entries').get() as { id: number | null }).id ?? 0

const countOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
