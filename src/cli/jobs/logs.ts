import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOver } from '../../jobs/job.js'
import { logOf } from '../../jobs/run-job.js'
import { jobFolder } from '../../jobs-of.js'
import { EXIT } from '../../lib/errors.js'
import { isAlive } from '../../lib/process-info.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { logLines } from '../render/job-log-lines.js'
import { untilStopped } from '../until-stopped.js'
import { jobNamed } from './job-named.js'

const EVERY_MS = 250
const CHUNK = 1024 * 1024

export async function logs(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, async (house) => {
    const { jobId, spec } = jobNamed(house, call.words[1]!)
    const path = logOf(jobFolder(house, jobId))
    const raw = call.json || call.flag('raw')
    const print = (line: string): void => {
      if (raw) cli.print(line)
      else for (const text of logLines(line, spec.agent, cli.screen)) cli.print(text)
    }
    const newest = new Lines(path)
    if (existsSync(`${path}.1`)) new Lines(`${path}.1`).read(print)
    newest.read(print)
    if (!call.flag('follow')) return EXIT.done
    let stopped = false
    void untilStopped().then(() => {
      stopped = true
    })
    for (;;) {
      const { state, runner } = house.store.job(jobId)!
      const rests = isOver(state) || state === 'paused' || (runner !== null && !isAlive(runner))
      newest.read(print)
      if (rests || stopped) return EXIT.done
      await sleep(EVERY_MS)
    }
  })
}

/** The whole lines of a file that grows, and that may be put aside for a new one. */
class Lines {
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
