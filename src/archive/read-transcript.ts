import { setImmediate as breathe } from 'node:timers/promises'
import type { TranscriptPart } from '../contract/api/archives.js'
import type { SegmentRecord } from '../contract/archive.js'
import type { Entry } from '../contract/conversation.js'
import type { Blocks } from './blocks.js'
import { textOfEntry } from './search/entry-text.js'
import type { ReadLine } from './search/index-stream.js'

type Shown = TranscriptPart['entries'][number]

/** Where a line begins: so that the next who asks for a later one need not begin at the first. */
export interface Place {
  line: number
  offset: number
}

export interface TranscriptWish {
  /** Those of its stream, in order. */
  segments: readonly SegmentRecord[]
  bytes: number
  read: ReadLine
  /** From this line on. */
  from: number
  /** About so many entries: a line is told whole. */
  limit: number
  /** What earlier reads of the stream have found; added to. */
  places: Place[]
}

const CHUNK = 1024 * 1024
const EVERY_LINES = 500
/** A longer line is a picture or a listing: it is passed over. */
const LONGEST_LINE = 16 * 1024 * 1024
const LONGEST_TEXT = 20_000
/** So much text fills a page, whatever its entries. */
const PAGE_TEXT = 600_000
const NEWLINE = 10

/**
 * What was said, called and returned in a kept transcript, from a line on. Holds one piece of it at a time, and lets others have their turn
 * between pieces: a transcript of hundreds of megabytes takes its time, not everybody's. Throws DamagedArchive.
 */
export async function readTranscript(
  blocks: Blocks,
  wish: TranscriptWish,
): Promise<Pick<TranscriptPart, 'entries' | 'next_line'>> {
  const { segments, bytes, from } = wish
  const entries: Shown[] = []
  let text = 0
  let { line, offset } = wish.places.findLast((place) => place.line <= from) ?? { line: 1, offset: 0 }
  let rest: Buffer[] = []
  let held = 0
  /** True: the page is full. */
  const take = (whole: Buffer | null): boolean => {
    if (line >= from && whole !== null) {
      for (const entry of wish.read(whole.toString('utf8'), line)) {
        const shown = shownOf(entry)
        if (shown === null) continue
        entries.push(shown)
        text += shown.text.length
      }
    }
    line++
    return entries.length >= wish.limit || text >= PAGE_TEXT
  }
  for (let at = offset; at < bytes; ) {
    const chunk = blocks.read(segments, at, Math.min(bytes, at + CHUNK))
    let begin = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      const isLong = held + end - begin > LONGEST_LINE
      const last = chunk.subarray(begin, end)
      const full = take(isLong ? null : rest.length === 0 ? last : Buffer.concat([...rest, last]))
      ;[rest, held] = [[], 0]
      begin = end + 1
      offset = at + begin
      remember(wish.places, line, offset)
      if (full) return { entries, next_line: offset < bytes ? line : null }
    }
    const left = chunk.subarray(begin)
    held += left.length
    rest = held > LONGEST_LINE ? [] : [...rest, left]
    at += chunk.length
    await breathe()
  }
  // The last line may lack its end.
  if (held > 0) take(held > LONGEST_LINE ? null : Buffer.concat(rest))
  return { entries, next_line: null }
}

function remember(places: Place[], line: number, offset: number): void {
  const last = places.at(-1)
  if (line - (last?.line ?? 1) >= EVERY_LINES) places.push({ line, offset })
}

function shownOf(entry: Entry): Shown | null {
  const found = textOfEntry(entry)
  if (found === null) return null
  const { text, cut } = cutOff(entry.kind === 'called' ? withoutTool(found.text, entry.tool) : found.text)
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

const withoutTool = (text: string, tool: string): string => (text.startsWith(tool) ? text.slice(tool.length).trimStart() : text)

function cutOff(text: string): { text: string; cut: boolean } {
  return text.length <= LONGEST_TEXT ? { text, cut: false } : { text: text.slice(0, LONGEST_TEXT), cut: true }
}
