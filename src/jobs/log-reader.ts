import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

const CHUNK = 1024 * 1024

/** The whole lines of a job's log, which grows and may be put aside for a new one. Each call of `read` gives what came since the last. */
export class LogReader {
  #offset = 0
  #inode: number | null = null
  #rest = Buffer.alloc(0)

  constructor(private readonly path: string) {}

  read(take: (line: string) => void): void {
    if (!existsSync(this.path)) return
    const { ino } = statSync(this.path)
    if (ino !== this.#inode) [this.#inode, this.#offset, this.#rest] = [ino, 0, Buffer.alloc(0)]
    const file = openSync(this.path, 'r')
    try {
      const { size } = fstatSync(file)
      const buffer = Buffer.allocUnsafe(CHUNK)
      while (this.#offset < size) {
        const got = readSync(file, buffer, 0, CHUNK, this.#offset)
        if (got === 0) return
        this.#offset += got
        this.#split(Buffer.concat([this.#rest, buffer.subarray(0, got)]), take)
      }
    } finally {
      closeSync(file)
    }
  }

  #split(bytes: Buffer, take: (line: string) => void): void {
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      take(bytes.toString('utf8', from, end))
      from = end + 1
    }
    this.#rest = Buffer.from(bytes.subarray(from))
  }
}
