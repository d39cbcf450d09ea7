import type { Entry } from '../../contract/conversation.js'
import { HIT_KINDS, type SegmentRecord } from '../../contract/records/archive.js'
import type { Blocks } from '../blocks.js'
import type { TimeLimit } from '../time-limit.js'
import { shortenForIndex, textOfEntry } from './entry-text.js'
import type { SearchIndex } from './open-index.js'
import { foldText } from './parse-query.js'

/** Parses one line of a transcript into entries. Never throws. */
export type TranscriptLineParser = (line: string, number: number) => readonly Entry[]

interface IndexOptions {
  read: TranscriptLineParser
  progress?: (bytes: number) => void
  /** Checked after each chunk. Without it, there is no limit. */
  limit?: TimeLimit | undefined
}

const CHUNK = 4 * 1024 * 1024
/** Longer lines are kept but not indexed. */
const LONGEST = 64 * 1024 * 1024
const NEWLINE = 10

interface Progress {
  bytes: number
  lines: number
  open_line: number
}

/**
 * Indexes a stream up to a byte, continuing where the last call stopped.
 * Uses one transaction per chunk of a few megabytes.
 * Other processes can write between two chunks, and a killed process loses one chunk.
 * Concurrent callers index each chunk once.
 * Returns false when the limit ended before everything was indexed.
 */
export function indexStream(
  index: SearchIndex,
  blocks: Blocks,
  segments: readonly SegmentRecord[],
  upTo: number,
  { read, progress = () => {}, limit }: IndexOptions,
): boolean {
  const stream = segments[0]?.streamId
  if (stream === undefined) return true
  for (let last = -1; ; ) {
    const at = index.transaction(() => {
      const from = progressOf(index, stream)
      if (from.bytes >= upTo) return from.bytes
      const chunk = nextChunk(blocks, segments, from.bytes, upTo)
      const done = addLines(index, stream, from, chunk, from.bytes + chunk.length >= upTo, read)
      index
        .sql('INSERT OR REPLACE INTO streams (stream, bytes, lines, open_line) VALUES (?, ?, ?, ?)')
        .run(stream, done.bytes, done.lines, done.open_line)
      progress(done.bytes - from.bytes)
      return done.bytes
    })
    // The rest is the beginning of a line whose end belongs to a later archive.
    if (at >= upTo || at === last) return true
    if (limit?.isOver()) return false
    last = at
  }
}

function progressOf(index: SearchIndex, stream: string): Progress {
  const row = index.sql('SELECT bytes, lines, open_line FROM streams WHERE stream = ?').get(stream) as
    | Progress
    | undefined
  return row ?? { bytes: 0, lines: 0, open_line: 0 }
}

/** Reads a few megabytes, or as much as one line needs. */
function nextChunk(blocks: Blocks, segments: readonly SegmentRecord[], from: number, upTo: number): Buffer {
  for (let size = CHUNK; ; size *= 4) {
    const chunk = blocks.read(segments, from, Math.min(upTo, from + size))
    if (chunk.includes(NEWLINE) || from + size >= upTo || size >= LONGEST) return chunk
  }
}

function addLines(
  index: SearchIndex,
  stream: string,
  from: Progress,
  chunk: Buffer,
  isLast: boolean,
  read: TranscriptLineParser,
): Progress {
  let at = from.open_line === 1 && chunk[0] === NEWLINE ? 1 : 0
  let lines = from.lines
  const first = ((index.sql('SELECT max(id) AS id FROM entries').get() as { id: number | null }).id ?? 0) + 1
  let id = first
  const add = (text: string, off: number, len: number): void => {
    for (const [nth, entry] of read(text, lines).entries()) {
      const found = textOfEntry(entry)
      if (!found) continue
      index.sql('INSERT INTO words (rowid, text) VALUES (?, ?)').run(id, foldText(shortenForIndex(found.text)))
      index
        .sql('INSERT INTO entries (id, off, len, line, kind, nth) VALUES (?, ?, ?, ?, ?, ?)')
        .run(id, off, len, entry.line, HIT_KINDS.indexOf(found.kind), nth)
      id++
    }
  }
  for (let end = chunk.indexOf(NEWLINE, at); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
    lines++
    if (end > at) add(chunk.toString('utf8', at, end), from.bytes + at, end - at)
    at = end + 1
  }
  let openLine = 0
  if (at < chunk.length && isWholeObject(chunk, at, isLast)) {
    lines++
    add(chunk.toString('utf8', at), from.bytes + at, chunk.length - at)
    at = chunk.length
    openLine = 1
  } else if (at === 0 && chunk.length >= LONGEST) {
    // The line is skipped; the rest of it up to its newline counts as one unreadable line.
    at = chunk.length
  }
  if (id > first) index.sql('INSERT INTO spans (first, last, stream) VALUES (?, ?, ?)').run(first, id - 1, stream)
  return { bytes: from.bytes + at, lines, open_line: openLine }
}

/**
 * True when the last line is a complete object without its newline.
 * A line that was cut in the middle waits for the next archive.
 */
function isWholeObject(chunk: Buffer, at: number, isLast: boolean): boolean {
  if (!isLast || chunk[chunk.length - 1] !== 0x7d) return false
  try {
    JSON.parse(chunk.toString('utf8', at))
    return true
  } catch {
    return false
  }
}

/**
 * Deletes what the index holds of a stream from a byte on.
 * Uses one transaction per span, so that others can write in between.
 * Can be restarted at any point.
 */
export function unindexStream(index: SearchIndex, stream: string, from: number): void {
  const spans = index.sql('SELECT first, last FROM spans WHERE stream = ? ORDER BY first DESC').all(stream) as Span[]
  for (const span of spans) index.transaction(() => dropRows(index, span, from))
  index.transaction(() => {
    if (from === 0) index.sql('DELETE FROM streams WHERE stream = ?').run(stream)
    else rewind(index, stream, from)
  })
}

function dropRows(index: SearchIndex, { first, last }: Span, from: number): void {
  const rows = 'SELECT id FROM entries WHERE id BETWEEN ? AND ? AND off + len > ?'
  index.sql(`DELETE FROM words WHERE rowid IN (${rows})`).run(first, last, from)
  index.sql(`DELETE FROM entries WHERE id IN (${rows})`).run(first, last, from)
  const left = index.sql('SELECT max(id) AS id FROM entries WHERE id BETWEEN ? AND ?').get(first, last) as {
    id: number | null
  }
  if (left.id === null) index.sql('DELETE FROM spans WHERE first = ?').run(first)
  else index.sql('UPDATE spans SET last = ? WHERE first = ?').run(left.id, first)
}

interface Span {
  first: number
  last: number
}

/** Resets progress to the line after the last remaining one. */
function rewind(index: SearchIndex, stream: string, from: number): void {
  const known = progressOf(index, stream)
  if (known.bytes <= from) return
  const last = index
    .sql(
      'SELECT off + len AS end, line FROM entries WHERE id = (SELECT max(e.id) FROM spans s JOIN entries e ON e.id ' +
        'BETWEEN s.first AND s.last WHERE s.stream = ?)',
    )
    .get(stream) as { end: number; line: number } | undefined
  index
    .sql('UPDATE streams SET bytes = ?, lines = ?, open_line = ? WHERE stream = ?')
    .run(last?.end ?? 0, last?.line ?? 0, last ? 1 : 0, stream)
}
