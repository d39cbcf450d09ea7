import type { ArchiveRecord, Hit, SegmentRecord } from '../../contract/archive.js'
import { type Blocks, DamagedArchive } from '../blocks.js'
import { textOfEntry } from './entry-text.js'
import { findRows, type Row } from './find-rows.js'
import type { ReadLine } from './index-stream.js'
import type { Index } from './open-index.js'
import { parseQuery, type Term } from './parse-query.js'
import { placeOf, snippetOf } from './snippet.js'

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
}

export interface SearchParts {
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
  parts: SearchParts,
  { query, among, limit, textLength = 4_000, unreadable = () => {} }: SearchRequest,
): Hit[] {
  const terms = parseQuery(query)
  if (terms.length === 0 || limit < 1) return []
  const holders = holdersOf(among ? parts.records.filter(among) : parts.records)
  const rows = findRows(parts.index, terms, among ? new Set(holders.keys()) : null)
  const hits: Hit[] = []
  const seen = new Set<string>()
  for (const row of rows) {
    const hit = hitOf({ ...parts, unreadable }, holders.get(row.stream) ?? [], row, terms, textLength)
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
  parts: SearchParts & Required<Pick<SearchRequest, 'unreadable'>>,
  holders: readonly Holder[],
  row: Row,
  terms: readonly Term[],
  most: number,
): Hit | null {
  const holder = holders.find(({ bytes }) => bytes >= row.off + row.len)
  if (!holder) return null
  const { record, name } = holder
  const entry = entryOf(parts, record, name, row)
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
  parts: SearchParts & Required<Pick<SearchRequest, 'unreadable'>>,
  { agent, archiveId }: ArchiveRecord,
  name: string,
  row: Row,
) {
  try {
    const line = parts.blocks.read(parts.segmentsOf(row.stream), row.off, row.off + row.len)
    return parts.readerOf(agent, name === '' ? 'main' : 'subagent')?.(line.toString('utf8'), row.line)[row.nth] ?? null
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error
    parts.unreadable(archiveId)
    return null
  }
}

function around(text: string, terms: readonly Term[], most: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, Math.min(placeOf(text, terms) - Math.floor(most / 4), text.length - most))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + most)}${from + most < text.length ? '…' : ''}`
}
