import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const LONGEST = 32 * 1024 * 1024

/**
 * Every line the clients of a job wrote, and what happened to the job between them (`{"type": "baton"}`). For the owner alone. Once it is
 * long it is put aside as `.1`, in the place of the one before.
 */
export class JobLog {
  #file: number | null = null
  #bytes = 0

  constructor(
    readonly path: string,
    readonly longest = LONGEST,
  ) {}

  add(line: string): void {
    if (this.#file === null) this.#open()
    this.#bytes += writeSync(this.#file!, `${line}\n`)
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
