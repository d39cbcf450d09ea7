import { setImmediate as breathe } from 'node:timers/promises'
import type { TranscriptPart } from '../contract/api/archives.js'
import type { Entry } from '../contract/conversation.js'
import type { SegmentRecord } from '../contract/records/archive.js'
import type { Blocks } from './blocks.js'
import { textOfEntry } from './search/entry-text.js'
import type { TranscriptLineParser } from './search/index-stream.js'

type ShownEntry = TranscriptPart['entries'][number]
type Part = Pick<TranscriptPart, 'entries' | 'next_line' | 'previous_line' | 'lines'>

export interface TranscriptRange extends KeptTranscript {
  read: TranscriptLineParser
  /** First line to return. Ignored with `before`. */
  from: number
  /** Returns the last entries before this line. Null to read onwards from the line `from`. */
  before: number | null
  /** Approximate number of entries, because a line is never split. */
  limit: number
  /** True to cut texts only at `WHOLE_TEXT` (5 million characters) instead of at `LONGEST_TEXT`. */
  whole: boolean
}

const LONGEST_TEXT = 20_000
/** Maximum length of a text that is not shortened. Browsers cannot show more. */
const WHOLE_TEXT = 5_000_000
/** Amount of text that fills a page, regardless of the number of entries. */
const PAGE_TEXT = 600_000
/** Most bytes read only to count lines. */
const COUNTED_BYTES = 8 * 1024 * 1024

/**
 * Returns messages, calls and results of an archived transcript, from a line on or before a line.
 * Throws DamagedArchive.
 */
export async function readTranscript(blocks: Blocks, range: TranscriptRange): Promise<Part> {
  const part =
    range.before === null ? await readForward(blocks, range) : await readBackward(blocks, range, range.before)
  return { ...part, lines: await countLines(blocks, range) }
}

async function readForward(blocks: Blocks, range: TranscriptRange): Promise<Omit<Part, 'lines'>> {
  const entries: ShownEntry[] = []
  let text = 0
  const end = await walkLines(blocks, range, range.from, (whole, line) => {
    for (const entry of entriesOf(range, whole, line)) {
      entries.push(entry)
      text += entry.text.length
    }
    return entries.length >= range.limit || text >= PAGE_TEXT
  })
  return {
    entries,
    next_line: end.offset < range.bytes ? end.line : null,
    previous_line: range.from > 1 ? range.from : null,
  }
}

/**
 * Reads the lines before a line.
 * Lines can only be read forwards, so the read starts well before the wanted line.
 * If too few entries are found, the read starts further back.
 */
async function readBackward(blocks: Blocks, range: TranscriptRange, before: number): Promise<Omit<Part, 'lines'>> {
  const end = await lastLine(blocks, range, before)
  for (let span = range.limit * 3; ; span *= 4) {
    const from = Math.max(1, end - span)
    const lines: ShownEntry[][] = []
    await walkLines(blocks, range, from, (whole, line) => {
      if (line < end) lines.push(entriesOf(range, whole, line))
      return line >= end - 1
    })
    const linesWithText = lines.filter((entries) => entries.length > 0)
    const kept = lastOf(linesWithText, range.limit)
    const isFull = kept.length < linesWithText.length || countOf(kept) >= range.limit
    if (!isFull && from > 1) continue
    const isAll = from === 1 && kept.length === linesWithText.length
    const entries = kept.flat()
    return {
      entries,
      next_line: end < before ? null : before,
      previous_line: isAll ? null : (entries[0]?.line ?? from),
    }
  }
}

/** Returns the line itself, or the line after the last one when the transcript is shorter. */
async function lastLine(blocks: Blocks, range: TranscriptRange, before: number): Promise<number> {
  if (before === 1) return 1
  const { line } = await walkLines(blocks, range, placeBefore(range, before).line, (_, at) => at >= before - 1)
  return Math.min(line, before)
}

/** Returns as many of the last lines as fill a page of the transcript. */
function lastOf(lines: readonly ShownEntry[][], limit: number): ShownEntry[][] {
  let [count, text, at] = [0, 0, lines.length]
  while (at > 0 && count < limit && text < PAGE_TEXT) {
    const line = lines[--at]!
    count += line.length
    text += line.reduce((sum, entry) => sum + entry.text.length, 0)
  }
  return lines.slice(at)
}

const countOf = (lines: readonly ShownEntry[][]): number => lines.reduce((sum, { length }) => sum + length, 0)

/** Counts the lines of a transcript. Null when counting would take long. */
async function countLines(blocks: Blocks, kept: KeptTranscript): Promise<number | null> {
  const near = placeBefore(kept, Number.MAX_SAFE_INTEGER)
  if (kept.bytes - near.offset > COUNTED_BYTES) return null
  const { line } = await walkLines(blocks, kept, near.line, () => false)
  return line - 1
}

function entriesOf({ read, whole: isWhole }: TranscriptRange, whole: Buffer | null, line: number): ShownEntry[] {
  if (whole === null) return []
  return read(whole.toString('utf8'), line).flatMap(
    (entry) => shownOf(entry, isWhole ? WHOLE_TEXT : LONGEST_TEXT) ?? [],
  )
}

function shownOf(entry: Entry, longest: number): ShownEntry | null {
  const found = textOfEntry(entry)
  if (found === null) return null
  const { text, cut } = cutOff(entry.kind === 'called' ? withoutTool(found.text, entry.tool) : found.text, longest)
  const at = entry.at === null ? null : new Date(entry.at).toISOString()
  const shown = { line: entry.line, at, tool: null, call_id: null, ok: null, text, cut }
  switch (entry.kind) {
    case 'said':
      return { ...shown, role: entry.by }
    case 'called':
      return { ...shown, role: 'call', tool: entry.tool, call_id: entry.callId }
    case 'returned':
      return { ...shown, role: 'result', call_id: entry.callId, ok: entry.ok }
    case 'compacted':
      return { ...shown, role: 'summary' }
  }
}

const withoutTool = (text: string, tool: string): string =>
  text.startsWith(tool) ? text.slice(tool.length).trimStart() : text

function cutOff(text: string, longest: number): { text: string; cut: boolean } {
  return text.length <= longest ? { text, cut: false } : { text: text.slice(0, longest), cut: true }
}

/** Known start of a line, so that later reads can begin there instead of at the first line. */
export interface LineStart {
  line: number
  offset: number
}

interface KeptTranscript {
  /** Segments (stored byte ranges) of the transcript's stream, in order. */
  segments: readonly SegmentRecord[]
  bytes: number
  /** Line starts found by earlier reads of the stream. This read adds new ones. */
  places: LineStart[]
}

const CHUNK = 1024 * 1024
const EVERY_LINES = 500
/** Maximum length of a line. Longer lines are images or listings and are skipped. */
const LONGEST_LINE = 16 * 1024 * 1024
const NEWLINE = 10

const placeBefore = ({ places }: KeptTranscript, line: number): LineStart =>
  places.findLast((place) => place.line <= line) ?? { line: 1, offset: 0 }

/**
 * Passes the lines of an archived transcript from `from` on, until `visit` returns true.
 * A line that is too long is passed as null.
 * Returns where the walk stopped. Throws DamagedArchive.
 * Only one chunk is in memory at a time.
 * Yields to other work between chunks: a transcript of hundreds of megabytes takes long.
 */
async function walkLines(
  blocks: Blocks,
  kept: KeptTranscript,
  from: number,
  visit: (whole: Buffer | null, line: number) => boolean,
): Promise<LineStart> {
  let { line, offset } = placeBefore(kept, from)
  let rest: Buffer[] = []
  let held = 0
  const show = (whole: Buffer | null): boolean => (line >= from ? visit(whole, line) : false)
  for (let at = offset; at < kept.bytes; ) {
    const chunk = blocks.read(kept.segments, at, Math.min(kept.bytes, at + CHUNK))
    let begin = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      const isLong = held + end - begin > LONGEST_LINE
      const last = chunk.subarray(begin, end)
      const isEnough = show(isLong ? null : rest.length === 0 ? last : Buffer.concat([...rest, last]))
      ;[rest, held] = [[], 0]
      line++
      begin = end + 1
      offset = at + begin
      rememberLineStart(kept.places, line, offset)
      if (isEnough) return { line, offset }
    }
    const left = chunk.subarray(begin)
    held += left.length
    rest = held > LONGEST_LINE ? [] : [...rest, left]
    at += chunk.length
    await breathe()
  }
  // The last line may lack its newline.
  if (held > 0) {
    show(held > LONGEST_LINE ? null : Buffer.concat(rest))
    line++
  }
  return { line, offset: kept.bytes }
}

function rememberLineStart(places: LineStart[], line: number, offset: number): void {
  const last = places.at(-1)
  if (line - (last?.line ?? 1) >= EVERY_LINES) places.push({ line, offset })
}
