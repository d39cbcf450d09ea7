import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

const LONGEST = 32 * 1024 * 1024

/**
 * Log of a job: every line of its clients, with events of the job (`{"type": "baton"}`) in between.
 * Only its owner can read it. A long log is renamed to `.1`, replacing the previous one.
 * A line that cannot be written is dropped, because no job should fail for its log.
 */
export class JobLog {
  private file: number | null = null
  private bytes = 0
  private isLosing = false
  /** True when the last line may have been written only in part. */
  private isTorn = false

  constructor(
    readonly path: string,
    readonly longest = LONGEST,
    /** Called for the first of several lines that cannot be written. */
    private readonly lost: (error: unknown) => void = () => {},
  ) {}

  add(line: string): void {
    try {
      this.write(line)
      this.isLosing = false
    } catch (error) {
      if (!this.isLosing) this.lost(error)
      this.isLosing = true
    }
  }

  private write(line: string): void {
    if (this.file === null) this.open()
    const bytes = Buffer.from(`${this.isTorn ? '\n' : ''}${line}\n`)
    this.isTorn = true
    for (let done = 0; done < bytes.length; ) done += writeSync(this.file!, bytes, done)
    this.isTorn = false
    this.bytes += bytes.length
    if (this.bytes < this.longest) return
    this.close()
    renameSync(this.path, `${this.path}.1`)
  }

  close(): void {
    if (this.file !== null) closeSync(this.file)
    this.file = null
  }

  private open(): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    this.file = openSync(this.path, 'a', 0o600)
    this.bytes = fstatSync(this.file).size
  }
}

const CHUNK = 1024 * 1024

/**
 * Reads complete lines of a job's log, which grows and may be rotated.
 * Every call of `read` passes the lines that were added since the last call.
 */
export class LogReader {
  private offset = 0
  private inode: number | null = null
  private rest = Buffer.alloc(0)

  constructor(private readonly path: string) {}

  read(take: (line: string) => void): void {
    if (!existsSync(this.path)) return
    const { ino } = statSync(this.path)
    if (ino !== this.inode) [this.inode, this.offset, this.rest] = [ino, 0, Buffer.alloc(0)]
    const file = openSync(this.path, 'r')
    try {
      const { size } = fstatSync(file)
      const buffer = Buffer.allocUnsafe(CHUNK)
      while (this.offset < size) {
        const got = readSync(file, buffer, 0, CHUNK, this.offset)
        if (got === 0) return
        this.offset += got
        this.split(Buffer.concat([this.rest, buffer.subarray(0, got)]), take)
      }
    } finally {
      closeSync(file)
    }
  }

  private split(bytes: Buffer, take: (line: string) => void): void {
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      take(bytes.toString('utf8', from, end))
      from = end + 1
    }
    this.rest = Buffer.from(bytes.subarray(from))
  }
}

/** Bytes of the log read at once. A longer line is still read whole. */
const PART = 256 * 1024
/** Maximum length of a line that is read. Users read no result of that size. */
const MOST_BYTES_READ = 8 * 1024 * 1024
const NEWLINE = 10

interface LogPart {
  lines: string[]
  /** Cursor (position in the log) of the next part: inode and byte offset. */
  next: string
  /** True when more lines can be read right now. */
  more: boolean
}

/**
 * Reads the next complete lines of a job's log after a cursor, or the first ones.
 * A log that was rotated meanwhile is read to its end first.
 */
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
    // The rest of a rotated file is a line that was never finished.
    if (lines.length > 0 || isLast)
      return { lines, next: `${file.inode}.${reached.offset}`, more: reached.more || !isLast }
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
      if (bytes >= MOST_BYTES_READ) at += chunk.length
    }
    return { offset: at, more: false }
  } finally {
    closeSync(file)
  }
}
