import { setImmediate as breathe } from 'node:timers/promises'
import type { SegmentRecord } from '../contract/archive.js'
import type { Blocks } from './blocks.js'

/** Where a line begins: so that the next who asks for a later one need not begin at the first. */
export interface Place {
  line: number
  offset: number
}

export interface Kept {
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

export const placeBefore = ({ places }: Kept, line: number): Place =>
  places.findLast((place) => place.line <= line) ?? { line: 1, offset: 0 }

/**
 * Shows the lines of a kept transcript from `from` on, until `visit` says that it is enough; null: a line too long to be read. Answers where
 * it ended. Holds one piece of it at a time, and lets others have their turn between pieces: a transcript of hundreds of megabytes takes its
 * time, not everybody's. Throws DamagedArchive.
 */
export async function walkLines(
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
