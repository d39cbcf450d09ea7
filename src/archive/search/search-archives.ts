import type { ArchiveRecord, SearchHit, SegmentRecord } from '../../contract/records/archive.js'
import { BatonError, errorCodeOf, reasonOf } from '../../lib/errors.js'
import { type Blocks, DamagedArchive } from '../blocks.js'
import type { TimeLimit } from '../time-limit.js'
import { textOfEntry } from './entry-text.js'
import { findRows, type IndexRow, rowsOf } from './find-rows.js'
import type { TranscriptLineParser } from './index-stream.js'
import type { SearchIndex } from './open-index.js'
import { parseQuery, type SearchTerm } from './parse-query.js'
import { answerShapes, bestPassage } from './passages.js'
import { queryWords } from './query-words.js'
import { rankRows } from './rank-rows.js'

export interface SearchRequest {
  query: string
  /** Searches only archives for which this returns true. */
  among?: (record: ArchiveRecord) => boolean
  limit: number
  /** Maximum number of characters of each hit's text, around the first match. */
  textLength?: number
  /**
   * Adds entries that contain any of the words, best first, when too few contain all.
   * Default: false.
   */
  anyWord?: boolean
  /** Maximum number of characters of the entries on each side of a hit. 0, the default: none. */
  surroundings?: number
  /** Called for each archive with a match that can no longer be read. */
  unreadable?: (archiveId: string) => void
  /** Receives the bytes read when archives have to be indexed first. */
  progress?: (bytes: number) => void
  /** Time limit for indexing new archives before the search. Without a limit, all are indexed. */
  within?: TimeLimit
}

interface SearchDependencies {
  index: SearchIndex
  blocks: Blocks
  /** Archives, oldest first. */
  records: readonly ArchiveRecord[]
  segmentsOf(streamId: string): readonly SegmentRecord[]
  /** Returns the function that parses a transcript line. Null for an unknown agent. */
  readerOf(agent: string, chain: 'main' | 'subagent'): TranscriptLineParser | null
}

/**
 * Returns everything in the archives that matches, best first; duplicate texts are one hit.
 * Empty also for an empty query.
 */
export function searchArchives(deps: SearchDependencies, request: SearchRequest): SearchHit[] {
  const { query, among, limit, textLength = 4_000, unreadable = () => {} } = request
  const terms = parseQuery(query)
  if (terms.length === 0 || limit < 1) return []
  const holders = holdersOf(among ? deps.records.filter(among) : deps.records)
  const streams = among ? new Set(holders.keys()) : null
  const reader: RowReader = { ...deps, unreadable, holders, surroundings: request.surroundings ?? 0 }
  const found: FoundHits = { hits: [], seen: new Set(), shown: new Set(), limit }
  for (const row of findRows(deps.index, terms, streams)) {
    if (found.hits.length >= limit) return found.hits
    const source = readRow(reader, row)
    if (source) addHit(found, reader, source, placeOf(source.text, terms), terms, textLength)
  }
  if (request.anyWord === true && found.hits.length < limit)
    addRanked(found, reader, { query, terms, streams, textLength })
  return found.hits
}

interface FoundHits {
  hits: SearchHit[]
  /** Kind and text of the hits. */
  seen: Set<string>
  /** Rows that a hit shows, as hit or beside it. */
  shown: Set<number>
  limit: number
}

/** Number of ranked rows whose text is read, to rank them by their best passage. */
const MOST_READ = 60
/** Characters of an entry in which its best passage is sought. The index has hardly more of it. */
const MOST_FOLDED_TEXT = 65_536

/** Adds entries that contain any word of the query, ranked by their best passage. */
function addRanked(
  found: FoundHits,
  reader: RowReader,
  {
    query,
    terms,
    streams,
    textLength,
  }: {
    query: string
    terms: readonly SearchTerm[]
    streams: ReadonlySet<string> | null
    textLength: number
  },
): void {
  const { rows, words } = rankRows(reader.index, queryWords(terms), streams, MOST_READ)
  const shapes = answerShapes(query)
  const ranked = rows.flatMap(({ row, score }) => {
    const source = found.shown.has(row.id) ? null : readRow(reader, row)
    if (source === null) return []
    const text = source.text.slice(0, MOST_FOLDED_TEXT)
    const passage = bestPassage(text, fold(text), words, shapes)
    return [{ source, at: passage.at, score: score + passage.score }]
  })
  ranked.sort((a, b) => b.score - a.score)
  for (const { source, at } of ranked) {
    if (found.hits.length >= found.limit) return
    if (!found.shown.has(source.row.id)) addHit(found, reader, source, at, terms, textLength)
  }
}

interface Holder {
  record: ArchiveRecord
  name: string
  bytes: number
}

/** Returns which archives hold how much of each stream, oldest first. */
function holdersOf(records: readonly ArchiveRecord[]): Map<string, Holder[]> {
  const holders = new Map<string, Holder[]>()
  for (const record of records) {
    if (record.status !== 'kept') continue
    for (const { streamId, name, bytes } of record.parts) {
      if (streamId === null) continue
      const known = holders.get(streamId)
      if (known) known.push({ record, name, bytes })
      else holders.set(streamId, [{ record, name, bytes }])
    }
  }
  return holders
}

interface RowReader extends SearchDependencies {
  unreadable: (archiveId: string) => void
  holders: ReadonlyMap<string, readonly Holder[]>
  surroundings: number
}

interface ReadRow {
  row: IndexRow
  record: ArchiveRecord
  name: string
  text: string
  at: number | null
}

/** Reads a row's entry. Null when no archive holds it any more, or its file is damaged. */
function readRow(reader: RowReader, row: IndexRow): ReadRow | null {
  const holder = reader.holders.get(row.stream)?.find(({ bytes }) => bytes >= row.off + row.len)
  if (!holder) return null
  const { record, name } = holder
  const entry = entryOf(reader, record, name, row)
  const found = entry && textOfEntry(entry)
  return found ? { row, record, name, text: found.text, at: entry.at } : null
}

/** Adds a hit whose text is cut around a place, unless a hit has the same text. */
function addHit(
  found: FoundHits,
  reader: RowReader,
  { row, record, name, text, at: time }: ReadRow,
  place: number,
  terms: readonly SearchTerm[],
  textLength: number,
): void {
  const hit: SearchHit = {
    archive_id: record.archiveId,
    session_id: record.sessionId,
    project: record.project,
    subagent: name === '' ? null : name,
    line: row.line,
    kind: row.kind,
    text: cutAround(text, place, textLength),
    snippet: snippetOf(text, terms),
    at: time === null ? null : new Date(time).toISOString(),
  }
  const key = `${hit.kind} ${hit.text}`
  if (found.seen.has(key)) return
  found.seen.add(key)
  found.shown.add(row.id)
  if (reader.surroundings > 0) {
    const before = surroundingText(reader, row, -1)
    const after = surroundingText(reader, row, 1)
    for (const id of [...before.ids, ...after.ids]) found.shown.add(id)
    hit.before = before.text
    hit.after = after.text
  }
  found.hits.push(hit)
}

/** Entries on one side that are looked at. Text of hooks is skipped. */
const MOST_BESIDE = 6
/** A smaller rest of the room would show a scrap of an entry. */
const LEAST_BESIDE = 60

/** Returns the entries before or after a row, in the order of the transcript, up to a length. */
function surroundingText(reader: RowReader, row: IndexRow, step: 1 | -1): { text: string; ids: number[] } {
  const parts: string[] = []
  const ids: number[] = []
  let room = reader.surroundings
  const beside = rowsOf(
    reader.index,
    Array.from({ length: MOST_BESIDE }, (_, at) => row.id + step * (at + 1)),
  )
  for (let at = 1; at <= MOST_BESIDE && room > LEAST_BESIDE; at++) {
    const next = beside.get(row.id + step * at)
    if (next?.stream !== row.stream) break
    const source = next.kind === 'other' ? null : readRow(reader, next)
    if (source === null) continue
    const text = source.text.trim()
    const cut = text.length <= room ? text : step < 0 ? `…${text.slice(-room)}` : `${text.slice(0, room)}…`
    const shown = `[${next.kind}] ${cut}`
    if (cut.length === text.length) ids.push(next.id)
    room -= cut.length
    if (step < 0) parts.unshift(shown)
    else parts.push(shown)
  }
  return { text: parts.join('\n'), ids }
}

function entryOf(reader: RowReader, { agent, archiveId }: ArchiveRecord, name: string, row: IndexRow) {
  try {
    const line = reader.blocks.read(reader.segmentsOf(row.stream), row.off, row.off + row.len)
    return reader.readerOf(agent, name === '' ? 'main' : 'subagent')?.(line.toString('utf8'), row.line)[row.nth] ?? null
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error
    reader.unreadable(archiveId)
    return null
  }
}

function cutAround(text: string, place: number, most: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, Math.min(place - Math.floor(most / 4), text.length - most))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + most)}${from + most < text.length ? '…' : ''}`
}

/**
 * Turns an error of the search into a sentence that says what is wrong and what to do.
 * Returns errors of any other kind unchanged.
 */
export function explainSearchError(error: unknown): unknown {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  const text = `${reason} ${errorCodeOf(error) ?? ''}`
  if (/disk is full|no space left|ENOSPC|EDQUOT/i.test(text))
    return new BatonError(
      'Cannot search the archives: no space is left on the disk.',
      'Free some space and search again. No archive is lost.',
    )
  if (/readonly|read-only|unable to open|EACCES|EROFS|EPERM|EISDIR/i.test(text))
    return new BatonError(
      `Cannot search the archives: their index cannot be opened (${reason}).`,
      'Check the owner and mode of archive-index.db, or delete it: Baton rebuilds it from the archives.',
    )
  if (/disk I\/O error/i.test(text))
    return new BatonError(
      `Cannot search the archives: their index cannot be read (${reason}).`,
      'Check the disk and its free space, or delete archive-index.db: Baton rebuilds it from the archives.',
    )
  return error
}

const AROUND = 80

/** Returns the text around the first match, on one line. */
function snippetOf(text: string, terms: readonly SearchTerm[], around = AROUND): string {
  const at = Math.max(0, placeOf(text, terms))
  const from = startOfWord(text, Math.max(0, at - around))
  const to = Math.min(text.length, at + 2 * around)
  const inner = text.slice(from, to).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${inner}${to < text.length ? '…' : ''}`
}

/** Returns the position of the first term in the text, -1 when none is found as written. */
function placeOf(text: string, terms: readonly SearchTerm[]): number {
  const folded = fold(text)
  const places = terms.flatMap(({ words }) => {
    const first = /[\p{L}\p{N}\p{M}\p{Co}]+/u.exec(fold(words))?.[0]
    const whole = folded.indexOf(fold(words))
    const at = whole >= 0 ? whole : first === undefined ? -1 : folded.indexOf(first)
    return at < 0 ? [] : [at]
  })
  return places.length === 0 ? -1 : Math.min(...places)
}

/**
 * Lowercases and removes accents, keeping the length, so that positions in both texts are the same.
 */
function fold(text: string): string {
  const plain = text.replace(/[^\u0000-\u007f]/g, plainSign)
  const small = plain.toLowerCase()
  return small.length === plain.length ? small : plain.replace(/[A-Z]+/g, (signs) => signs.toLowerCase())
}

/** Folded characters, because folding one costs more than finding it. */
const foldedSigns = new Map<string, string>()
const MOST_FOLDED = 20_000

function plainSign(sign: string): string {
  const known = foldedSigns.get(sign)
  if (known !== undefined) return known
  const plain = sign.toLowerCase().normalize('NFD')
  const folded = plain.length === 1 || /^\p{M}+$/u.test(plain.slice(1)) ? plain[0]! : sign
  if (foldedSigns.size < MOST_FOLDED) foldedSigns.set(sign, folded)
  return folded
}

function startOfWord(text: string, from: number): number {
  if (from === 0 || /\s/.test(text[from - 1]!)) return from
  const space = text.slice(from, from + 20).search(/\s/)
  if (space >= 0) return from + space + 1
  // Do not cut between the two halves of a surrogate pair.
  return /[\udc00-\udfff]/.test(text[from]!) ? from + 1 : from
}
