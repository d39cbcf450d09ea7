import { setImmediate as breathe } from 'node:timers/promises'
import type { TranscriptPart } from '../contract/api/archives.js'
import type { Entry } from '../contract/conversation.js'
import type { SegmentRecord } from '../contract/records/archive.js'
import type { Blocks } from './blocks.js'
import { textOfEntry } from './search/entry-text.js'
import type { ReadLine } from './search/index-stream.js'

type Shown = TranscriptPart['entries'][number]
type Part = Pick<TranscriptPart, 'entries' | 'next_line' | 'previous_line' | 'lines'>

export interface TranscriptRange extends Kept {
  read: ReadLine
  /** From this line on; with `before` it does not count. */
  from: number
  /** What stands before this line, the last of it; null: from `from` on. */
  before: number | null
  /** About so many entries: a line is told whole. */
  limit: number
  /** Texts are not cut. */
  whole: boolean
}

const LONGEST_TEXT = 20_000
/** Nobody reads on beyond that, and a browser would not bear it. */
const WHOLE_TEXT = 5_000_000
/** So much text fills a page, whatever its entries. */
const PAGE_TEXT = 600_000
/** So many bytes are gone through only to count their lines. */
const COUNTED_BYTES = 8 * 1024 * 1024

/** What was said, called and returned in a kept transcript, from a line on or before one. Throws DamagedArchive. */
export async function readTranscript(blocks: Blocks, range: TranscriptRange): Promise<Part> {
  const part = range.before === null ? await readOn(blocks, range) : await readBack(blocks, range, range.before)
  return { ...part, lines: await countLines(blocks, range) }
}

async function readOn(blocks: Blocks, range: TranscriptRange): Promise<Omit<Part, 'lines'>> {
  const entries: Shown[] = []
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

/** Lines can only be read forwards: so from a good way before, and further away where too little is said there. */
async function readBack(blocks: Blocks, range: TranscriptRange, before: number): Promise<Omit<Part, 'lines'>> {
  const end = await lastLine(blocks, range, before)
  for (let span = range.limit * 3; ; span *= 4) {
    const from = Math.max(1, end - span)
    const lines: Shown[][] = []
    await walkLines(blocks, range, from, (whole, line) => {
      if (line < end) lines.push(entriesOf(range, whole, line))
      return line >= end - 1
    })
    const told = lines.filter((entries) => entries.length > 0)
    const kept = lastOf(told, range.limit)
    const isFull = kept.length < told.length || countOf(kept) >= range.limit
    if (!isFull && from > 1) continue
    const isAll = from === 1 && kept.length === told.length
    const entries = kept.flat()
    return {
      entries,
      next_line: end < before ? null : before,
      previous_line: isAll ? null : (entries[0]?.line ?? from),
    }
  }
}

/** The line itself, or the one after the last where there are not so many. */
async function lastLine(blocks: Blocks, range: TranscriptRange, before: number): Promise<number> {
  if (before === 1) return 1
  const { line } = await walkLines(blocks, range, placeBefore(range, before).line, (_, at) => at >= before - 1)
  return Math.min(line, before)
}

/** As many lines from the end as fill a page. */
function lastOf(lines: readonly Shown[][], limit: number): Shown[][] {
  let [count, text, at] = [0, 0, lines.length]
  while (at > 0 && count < limit && text < PAGE_TEXT) {
    const line = lines[--at]!
    count += line.length
    text += line.reduce((sum, entry) => sum + entry.text.length, 0)
  }
  return lines.slice(at)
}

const countOf = (lines: readonly Shown[][]): number => lines.reduce((sum, { length }) => sum + length, 0)

/** null: it would take long. Who goes to the end has them counted. */
async function countLines(blocks: Blocks, kept: Kept): Promise<number | null> {
  const near = placeBefore(kept, Number.MAX_SAFE_INTEGER)
  if (kept.bytes - near.offset > COUNTED_BYTES) return null
  const { line } = await walkLines(blocks, kept, near.line, () => false)
  return line - 1
}

function entriesOf({ read, whole: isWhole }: TranscriptRange, whole: Buffer | null, line: number): Shown[] {
  if (whole === null) return []
  return read(whole.toString('utf8'), line).flatMap(
    (entry) => shownOf(entry, isWhole ? WHOLE_TEXT : LONGEST_TEXT) ?? [],
  )
}

function shownOf(entry: Entry, longest: number): Shown | null {
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

/** Where a line begins: so that the next who asks for a later one need not begin at the first. */
export interface Place {
  line: number
  offset: number
}

interface Kept {
  /** Those of its stream, in order. */
  segments: readonly SegmentRecord[]
  bytes: number
  /** What earlier reads of the stream have found; added to. */
  places: Place[]
}

const CHUNK = 1024 * 1024
const EVERY_LINES = 500
/** A longer line is a picture or a listing: it is passed over. */
const LONGEST_LINE = 16 * 1024 * 1024
const NEWLINE = 10

const placeBefore = ({ places }: Kept, line: number): Place =>
  places.findLast((place) => place.line <= line) ?? { line: 1, offset: 0 }

/**
 * Shows the lines of a kept transcript from `from` on, until `visit` says that it is enough; null: a line too long to be read. Answers where
 * it ended. Holds one piece of it at a time, and lets others have their turn between pieces: a transcript of hundreds of megabytes takes its
 * time, not everybody's. Throws DamagedArchive.
 */
async function walkLines(
  blocks: Blocks,
  kept: Kept,
  from: number,
  visit: (whole: Buffer | null, line: number) => boolean,
): Promise<Place> {
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
      remember(kept.places, line, offset)
      if (isEnough) return { line, offset }
    }
    const left = chunk.subarray(begin)
    held += left.length
    rest = held > LONGEST_LINE ? [] : [...rest, left]
    at += chunk.length
    await breathe()
  }
  // The last line may lack its end.
  if (held > 0) {
    show(held > LONGEST_LINE ? null : Buffer.concat(rest))
    line++
  }
  return { line, offset: kept.bytes }
}

function remember(places: Place[], line: number, offset: number): void {
  const last = places.at(-1)
  if (line - (last?.line ?? 1) >= EVERY_LINES) places.push({ line, offset })
}
