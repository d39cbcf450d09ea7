import { readSync } from 'node:fs'

const NEWLINE = 10
const FORWARD_CHUNK = 256 * 1024
const FIRST_BACKWARD_CHUNK = 64 * 1024
const LAST_BACKWARD_CHUNK = 1024 * 1024

/**
 * Receives a complete line inside `buffer`, without its line end.
 * The bytes are valid only during the call.
 */
type VisitLine = (buffer: Buffer, start: number, end: number, offset: number) => void

interface ScanOptions {
  /** Maximum length of a line. Longer lines are skipped without being kept in memory. */
  longestLine: number
  /** True when `from` is inside a line. Bytes up to the first line end are then dropped. */
  midLine?: boolean
}

/** The end of a scan. */
export interface ScanEnd {
  /** Offset where the next scan starts, after the last complete line. */
  next: number
  /** True when `next` is inside an unfinished line that is longer than `longestLine`. */
  midLine: boolean
}

/**
 * Visits every complete line of [from, to) in order.
 * An unfinished last line is left for the next scan.
 */
export function scanLines(fd: number, from: number, to: number, options: ScanOptions, visit: VisitLine): ScanEnd {
  const chunk = Buffer.allocUnsafe(Math.min(FORWARD_CHUNK, Math.max(to - from, 1)))
  let unfinished: Buffer[] = []
  let unfinishedBytes = 0
  let dropping = options.midLine === true
  let lineAt = from
  let pos = from
  while (pos < to) {
    const got = readSync(fd, chunk, 0, Math.min(chunk.length, to - pos), pos)
    if (got === 0) break
    pos += got
    const fresh = chunk.subarray(0, got)
    let end = fresh.indexOf(NEWLINE)
    if (end >= 0) {
      const buffer = unfinishedBytes > 0 ? Buffer.concat([...unfinished, fresh]) : fresh
      end += unfinishedBytes
      let start = 0
      while (end >= 0) {
        if (!dropping) visitLine(visit, buffer, start, end, lineAt)
        dropping = false
        start = end + 1
        lineAt = pos - buffer.length + start
        end = buffer.indexOf(NEWLINE, start)
      }
      unfinished = [Buffer.from(buffer.subarray(start))]
      unfinishedBytes = buffer.length - start
    } else if (!dropping) {
      unfinished.push(Buffer.from(fresh))
      unfinishedBytes += got
    }
    if (unfinishedBytes > options.longestLine) {
      dropping = true
      unfinished = []
      unfinishedBytes = 0
    }
  }
  return dropping ? { next: pos, midLine: true } : { next: lineAt, midLine: false }
}

/**
 * Visits complete lines of [0, to) from the last to the first.
 * Stops when the visitor returns true or `most` bytes were read. Skips an unfinished last line.
 * Returns the end of the last complete line. Null when there is none.
 */
export function scanLinesBackwards(
  fd: number,
  to: number,
  options: { longestLine: number; most: number },
  visit: (...line: Parameters<VisitLine>) => boolean,
): number | null {
  let carry: Buffer = Buffer.alloc(0)
  let endOfLines: number | null = null
  let dropping = false
  let pos = to
  let size = FIRST_BACKWARD_CHUNK
  while (pos > 0 && to - pos < options.most) {
    const length = Math.min(size, pos)
    size = Math.min(size * 2, LAST_BACKWARD_CHUNK)
    const chunk = readWhole(fd, pos - length, length)
    pos -= length
    if (chunk === null) return endOfLines
    const buffer: Buffer = carry.length > 0 ? Buffer.concat([chunk, carry]) : chunk
    let end = buffer.length
    for (let newline = lastNewline(buffer, length); newline >= 0; newline = lastNewline(buffer, newline)) {
      const whole = endOfLines !== null && !dropping
      endOfLines ??= pos + newline + 1
      if (whole && visitLine(visit, buffer, newline + 1, end, pos + newline + 1) === true) return endOfLines
      dropping = false
      end = newline
    }
    if (pos === 0 && endOfLines !== null && !dropping && visitLine(visit, buffer, 0, end, 0) === true) return endOfLines
    dropping = dropping || (endOfLines !== null && end > options.longestLine)
    // Without a line end so far, the bytes belong to an unfinished line, which is never visited.
    carry = dropping || endOfLines === null ? Buffer.alloc(0) : Buffer.from(buffer.subarray(0, end))
  }
  return endOfLines
}

function lastNewline(buffer: Buffer, before: number): number {
  return before <= 0 ? -1 : buffer.lastIndexOf(NEWLINE, before - 1)
}

function visitLine<T>(
  visit: (...line: Parameters<VisitLine>) => T,
  buffer: Buffer,
  start: number,
  end: number,
  at: number,
): T | undefined {
  const stop = end > start && buffer[end - 1] === 13 ? end - 1 : end
  return stop > start ? visit(buffer, start, stop, at) : undefined
}

function readWhole(fd: number, at: number, length: number): Buffer | null {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const got = readSync(fd, buffer, filled, length - filled, at + filled)
    if (got === 0) return null
    filled += got
  }
  return buffer
}
