import type { ArchiveRecord, Hit, SegmentRecord } from '../../contract/records/archive.js'
import { BatonError, codeOf, reasonOf } from '../../lib/errors.js'
import { type Blocks, DamagedArchive } from '../blocks.js'
import type { TimeLimit } from '../time-limit.js'
import { textOfEntry } from './entry-text.js'
import { findRows, type IndexRow } from './find-rows.js'
import type { LineParser } from './index-stream.js'
import type { SearchIndex } from './open-index.js'
import { parseQuery, type SearchTerm } from './parse-query.js'

export interface SearchRequest {
  query: string
  /** Searches only archives for which this returns true. */
  among?: (record: ArchiveRecord) => boolean
  limit: number
  /** Maximum number of characters of each hit's text, around the first match. */
  textLength?: number
  /** Called for each archive with a match that can no longer be read. */
  unreadable?: (archiveId: string) => void
  /** Receives the bytes read when archives have to be indexed first. */
  progress?: (bytes: number) => void
  /** Time limit for indexing archives first. Without it, all are indexed. */
  within?: TimeLimit
}

interface SearchDependencies {
  index: SearchIndex
  blocks: Blocks
  /** Archives, oldest first. */
  records: readonly ArchiveRecord[]
  segmentsOf(streamId: string): readonly SegmentRecord[]
  /** Returns the function that parses a transcript line. Null for an unknown agent. */
  readerOf(agent: string, chain: 'main' | 'subagent'): LineParser | null
}

/**
 * Returns everything in the archives that matches, best first; duplicate texts are one hit.
 * Empty also for an empty query.
 */
export function searchArchives(
  deps: SearchDependencies,
  { query, among, limit, textLength = 4_000, unreadable = () => {} }: SearchRequest,
): Hit[] {
  const terms = parseQuery(query)
  if (terms.length === 0 || limit < 1) return []
  const holders = holdersOf(among ? deps.records.filter(among) : deps.records)
  const rows = findRows(deps.index, terms, among ? new Set(holders.keys()) : null)
  const hits: Hit[] = []
  const seen = new Set<string>()
  for (const row of rows) {
    const hit = hitOf({ ...deps, unreadable }, holders.get(row.stream) ?? [], row, terms, textLength)
    const key = hit && `${hit.kind} ${hit.text}`
    if (!hit || seen.has(key!)) continue
    seen.add(key!)
    hits.push(hit)
    if (hits.length >= limit) break
  }
  return hits
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

/** Returns the hit for a row. Null when no archive holds it any more, or its file is damaged. */
function hitOf(
  deps: SearchDependencies & Required<Pick<SearchRequest, 'unreadable'>>,
  holders: readonly Holder[],
  row: IndexRow,
  terms: readonly SearchTerm[],
  most: number,
): Hit | null {
  const holder = holders.find(({ bytes }) => bytes >= row.off + row.len)
  if (!holder) return null
  const { record, name } = holder
  const entry = entryOf(deps, record, name, row)
  const found = entry && textOfEntry(entry)
  if (!found) return null
  return {
    archive_id: record.archiveId,
    session_id: record.sessionId,
    project: record.project,
    subagent: name === '' ? null : name,
    line: row.line,
    kind: row.kind,
    text: cutAround(found.text, terms, most),
    snippet: snippetOf(found.text, terms),
    at: entry.at === null ? null : new Date(entry.at).toISOString(),
  }
}

function entryOf(
  deps: SearchDependencies & Required<Pick<SearchRequest, 'unreadable'>>,
  { agent, archiveId }: ArchiveRecord,
  name: string,
  row: IndexRow,
) {
  try {
    const line = deps.blocks.read(deps.segmentsOf(row.stream), row.off, row.off + row.len)
    return deps.readerOf(agent, name === '' ? 'main' : 'subagent')?.(line.toString('utf8'), row.line)[row.nth] ?? null
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error
    deps.unreadable(archiveId)
    return null
  }
}

function cutAround(text: string, terms: readonly SearchTerm[], most: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, Math.min(placeOf(text, terms) - Math.floor(most / 4), text.length - most))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + most)}${from + most < text.length ? '…' : ''}`
}

/**
 * Turns an error of the search into a sentence that says what is wrong and what to do.
 * Returns errors of any other kind unchanged.
 */
export function explainSearchError(error: unknown): unknown {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  const text = `${reason} ${codeOf(error) ?? ''}`
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
  const small = text.toLowerCase()
  if (small.length === text.length && !/[^\u0000-\u007f]/.test(small)) return small
  let folded = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    const plain = character.toLowerCase().normalize('NFD')
    folded += plain.length === 1 || /^\p{M}+$/u.test(plain.slice(1)) ? plain[0]! : character
  }
  return folded
}

function startOfWord(text: string, from: number): number {
  if (from === 0 || /\s/.test(text[from - 1]!)) return from
  const space = text.slice(from, from + 20).search(/\s/)
  if (space >= 0) return from + space + 1
  // Do not cut between the two halves of a surrogate pair.
  return /[\udc00-\udfff]/.test(text[from]!) ? from + 1 : from
}
