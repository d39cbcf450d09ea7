import { type JobParts, record } from './parts.js'

/** So much a kill may forget. */
const KEPT_MS = 5_000

/** The time a job has really run, over all its runners: its budget of minutes. Waiting for a limit and pauses do not count. */
export class WorkClock {
  #known = 0
  #since: number | null = null
  #keptAt = 0

  constructor(
    private readonly parts: JobParts,
    private readonly jobId: string,
  ) {}

  start(): void {
    this.#known = this.parts.store.job(this.jobId)!.ranMs
    this.#since = this.#keptAt = performance.now()
  }

  ranMs(): number {
    if (this.#since === null) return this.parts.store.job(this.jobId)!.ranMs
    return Math.round(this.#known + performance.now() - this.#since)
  }

  /** Called often; what it came to is stored now and then. */
  tick(): void {
    if (this.#since !== null && performance.now() - this.#keptAt >= KEPT_MS) this.#keep()
  }

  stop(): void {
    this.#keep()
    this.#since = null
  }

  #keep(): void {
    this.#keptAt = performance.now()
    record(this.parts, this.jobId, { ranMs: this.ranMs() })
  }
}
