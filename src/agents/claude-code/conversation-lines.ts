import { readSync } from 'node:fs'

const NEWLINE = 10
const CHUNK = 1024 * 1024
/** What is kept of a line that is too long to be kept whole. */
const HEAD = 256 * 1024

export interface NumberedLine {
  /** From 1. */
  number: number
  text: string
  /** False: only the beginning of a line longer than `longest`. */
  whole: boolean
}

export interface LinesRead {
  /** Where the next read begins: after the last whole line. */
  next: number
  /** How many lines lie before `next`. */
  lines: number
  /** It was told to stop there. */
  stopped: boolean
}

/**
 * Visits the lines of [from, to) with their numbers, in memory bounded by `longest`. An unfinished last line is left for the next read.
 * `wanted` looks at a line's bytes first and makes the text of them; what it refuses (null) is counted, but never made into a string.
 * `goesOn` is asked before each line.
 */
export function readLines(
  fd: number,
  range: { from: number; to: number; lines: number; longest: number },
  wanted: (bytes: Buffer) => string | null,
  visit: (line: NumberedLine) => void,
  goesOn: () => boolean = () => true,
): LinesRead {
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK, range.to - range.from)))
  let kept: Buffer[] = []
  let keptBytes = 0
  let tooLong = false
  let { lines } = range
  let pos = range.from
  let next = range.from

  const give = (bytes: Buffer, whole: boolean): void => {
    lines++
    const text = bytes.length === 0 ? null : wanted(bytes)
    if (text !== null) visit({ number: lines, text, whole })
  }
  while (pos < range.to) {
    const got = readSync(fd, chunk, 0, Math.min(chunk.length, range.to - pos), pos)
    if (got === 0) break
    let start = 0
    for (let end = find(chunk, start, got); end >= 0; end = find(chunk, start, got)) {
      if (!goesOn()) return { next, lines, stopped: true }
      const part = chunk.subarray(start, end)
      const bytes = keptBytes === 0 ? part : Buffer.concat([...kept, part])
      if (tooLong || bytes.length > range.longest) give(bytes.subarray(0, HEAD), false)
      else give(bytes, true)
      kept = []
      keptBytes = 0
      tooLong = false
      start = end + 1
      next = pos + start
    }
    if (start < got && !tooLong) {
      kept.push(Buffer.from(chunk.subarray(start, got)))
      keptBytes += got - start
      if (keptBytes > range.longest) {
        tooLong = true
        kept = [Buffer.concat(kept).subarray(0, HEAD)]
        keptBytes = HEAD
      }
    }
    pos += got
  }
  return { next, lines, stopped: false }
}

function find(chunk: Buffer, start: number, end: number): number {
  const at = chunk.indexOf(NEWLINE, start)
  return at < end ? at : -1
}
