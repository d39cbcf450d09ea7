import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** How much of a log is read at once, but for a line that is longer. */
const PART = 256 * 1024
/** A longer line is passed over: a result of so many bytes is nothing to read. */
const LONGEST = 8 * 1024 * 1024
const NEWLINE = 10

export interface LogPart {
  lines: string[]
  /** Where the next part begins: which file, and from which of its bytes. */
  next: string
  /** There is more right now. */
  more: boolean
}

/** The next whole lines of a job's log after a place, or its first; a log that was put aside meanwhile is read to its end first. */
export function readLogPart(path: string, after: string | null): LogPart {
  const files = [`${path}.1`, path].flatMap((one) => {
    const found = statSync(one, { throwIfNoEntry: false })
    return found?.isFile() ? [{ path: one, inode: found.ino, size: found.size }] : []
  })
  const [inode, offset] = placeOf(after)
  const known = files.findIndex((file) => file.inode === inode)
  const lines: string[] = []
  for (let at = Math.max(0, known), from = known < 0 ? 0 : offset; at < files.length; at++, from = 0) {
    const file = files[at]!
    const reached = readLines(file.path, Math.min(from, file.size), file.size, lines)
    const isLast = at === files.length - 1
    // What is left of a file that was put aside is a line that was never finished.
    if (lines.length > 0 || isLast) return { lines, next: `${file.inode}.${reached.offset}`, more: reached.more || !isLast }
  }
  return { lines, next: '', more: false }
}

function placeOf(after: string | null): [number, number] {
  const found = /^(\d{1,20})\.(\d{1,15})$/.exec(after ?? '')
  return found ? [Number(found[1]), Number(found[2])] : [-1, 0]
}

function readLines(path: string, from: number, size: number, lines: string[]): { offset: number; more: boolean } {
  const file = openSync(path, 'r')
  try {
    let at = from
    for (let bytes = PART; at < size; bytes *= 4) {
      const buffer = Buffer.allocUnsafe(Math.min(bytes, size - at))
      const chunk = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, at))
      const end = chunk.lastIndexOf(NEWLINE)
      if (end >= 0) {
        lines.push(...chunk.toString('utf8', 0, end).split('\n'))
        return { offset: at + end + 1, more: chunk.length === buffer.length && at + chunk.length < size }
      }
      if (chunk.length < buffer.length || at + chunk.length >= size) break
      if (bytes >= LONGEST) at += chunk.length
    }
    return { offset: at, more: false }
  } finally {
    closeSync(file)
  }
}
