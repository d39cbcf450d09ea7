import type { ArchiveRecord, Hit, SegmentRecord } from '../../contract/records/archive.js'
import { BatonError, codeOf, reasonOf } from '../../lib/errors.js'
import { type Blocks, DamagedArchive } from '../blocks.js'
import type { TimeLimit } from '../time-limit.js'
import { textOfEntry } from './entry-text.js'
import { findRows, type Row } from './find-rows.js'
import type { ReadLine } from './index-stream.js'
import type { Index } from './open-index.js'
import { parseQuery, type Term } from './parse-query.js'

export interface SearchRequest {
  query: string
  /** Only in archives of which this is true. */
  among?: (record: ArchiveRecord) => boolean
  limit: number
  /** At most so many characters of each hit's text, around the first match. */
  textLength?: number
  /** Told of each archive in which something was found that cannot be read any more. */
  unreadable?: (archiveId: string) => void
  /** Told of the bytes read where archives have to be made searchable first. */
  progress?: (bytes: number) => void
  /** Time for making archives searchable first. Absent: it takes as long as it takes. */
  within?: TimeLimit
}

interface SearchDependencies {
  index: Index
  blocks: Blocks
  /** Oldest first. */
  records: readonly ArchiveRecord[]
  segmentsOf(streamId: string): readonly SegmentRecord[]
  /** null: nobody knows this agent's transcripts. */
  readerOf(agent: string, chain: 'main' | 'subagent'): ReadLine | null
}

/** Everything in the archives that matches, best first. The same words said twice are one hit. [] also when there is nothing to look for. */
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

/** Which archives hold how much of each stream, oldest first. */
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

/** null: what was found is in no archive any more, or its file is damaged. */
function hitOf(
  deps: SearchDependencies & Required<Pick<SearchRequest, 'unreadable'>>,
  holders: readonly Holder[],
  row: Row,
  terms: readonly Term[],
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
    text: around(found.text, terms, most),
    snippet: snippetOf(found.text, terms),
    at: entry.at === null ? null : new Date(entry.at).toISOString(),
  }
}

function entryOf(
  deps: SearchDependencies & Required<Pick<SearchRequest, 'unreadable'>>,
  { agent, archiveId }: ArchiveRecord,
  name: string,
  row: Row,
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

function around(text: string, terms: readonly Term[], most: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, Math.min(placeOf(text, terms) - Math.floor(most / 4), text.length - most))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + most)}${from + most < text.length ? '…' : ''}`
}

/** What keeps archives from being searched, as a sentence and what to do. Errors of another kind come back as they are. */
export function explainSearch(error: unknown): unknown {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  const said = `${reason} ${codeOf(error) ?? ''}`
  if (/disk is full|no space left|ENOSPC|EDQUOT/i.test(said))
    return new BatonError(
      'No space is left on the disk, so the archives cannot be searched.',
      'Free some space and search again; nothing that was kept is lost.',
    )
  if (/readonly|read-only|unable to open|EACCES|EROFS|EPERM|EISDIR/i.test(said))
    return new BatonError(
      `The archives cannot be searched: their index cannot be opened (${reason}).`,
      'Check the owner and mode of archive-index.db. It can be deleted at any time: it is made again from the archives.',
    )
  if (/disk I\/O error/i.test(said))
    return new BatonError(
      `The archives cannot be searched: their index cannot be read (${reason}).`,
      'Check the disk and its free space. The index can be deleted at any time: it is made again from the archives.',
    )
  return error
}

const AROUND = 80

/** The words around the first place where one of the terms stands, on one line. */
function snippetOf(text: string, terms: readonly Term[], around = AROUND): string {
  const at = Math.max(0, placeOf(text, terms))
  const from = startOfWord(text, Math.max(0, at - around))
  const to = Math.min(text.length, at + 2 * around)
  const inner = text.slice(from, to).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${inner}${to < text.length ? '…' : ''}`
}

/** -1: none of them was found as written. */
function placeOf(text: string, terms: readonly Term[]): number {
  const folded = fold(text)
  const places = terms.flatMap(({ words }) => {
    const first = /[\p{L}\p{N}\p{M}\p{Co}]+/u.exec(fold(words))?.[0]
    const whole = folded.indexOf(fold(words))
    const at = whole >= 0 ? whole : first === undefined ? -1 : folded.indexOf(first)
    return at < 0 ? [] : [at]
  })
  return places.length === 0 ? -1 : Math.min(...places)
}

/** Small letters without accents; as long as the text, so that a place in one is a place in the other. */
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
  // Not between the two halves of one sign.
  return /[\udc00-\udfff]/.test(text[from]!) ? from + 1 : from
}
