import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const LONGEST = 32 * 1024 * 1024

/**
 * Every line the clients of a job wrote, and what happened to the job between them (`{"type": "baton"}`). For the owner alone. Once it is
 * long it is put aside as `.1`, in the place of the one before. A line that cannot be kept is left out: no job fails for its log.
 */
export class JobLog {
  #file: number | null = null
  #bytes = 0
  #isLosing = false
  /** The last line may have been written in part. */
  #isTorn = false

  constructor(
    readonly path: string,
    readonly longest = LONGEST,
    /** Called for the first line of a row that cannot be kept. */
    private readonly lost: (error: unknown) => void = () => {},
  ) {}

  add(line: string): void {
    try {
      this.#add(line)
      this.#isLosing = false
    } catch (error) {
      if (!this.#isLosing) this.lost(error)
      this.#isLosing = true
    }
  }

  #add(line: string): void {
    if (this.#file === null) this.#open()
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${line}\n`)
    this.#isTorn = true
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file!, bytes, done)
    this.#isTorn = false
    this.#bytes += bytes.length
    if (this.#bytes < this.longest) return
    this.close()
    renameSync(this.path, `${this.path}.1`)
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #open(): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    this.#file = openSync(this.path, 'a', 0o600)
    this.#bytes = fstatSync(this.#file).size
  }
}
