import { createHash } from 'node:crypto'

/** Generates ids and times like the client's that are the same in every build of a scenario. */
export class Ids {
  private count = 0
  private now: number

  constructor(
    private readonly seed: string,
    start: string,
  ) {
    this.now = Date.parse(start)
  }

  private hash(): string {
    return createHash('sha256')
      .update(`${this.seed}/${this.count++}`)
      .digest('hex')
  }

  uuid(): string {
    const h = this.hash()
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20, 32)}`
  }

  digest(): string {
    return this.hash()
  }

  /** Returns letters and digits, as in ids of messages, tools and tasks. */
  word(length: number): string {
    return BigInt(`0x${this.hash()}`).toString(36).slice(0, length)
  }

  /** Advances the clock by so many milliseconds and returns the time. */
  tick(ms = 40): string {
    this.now += ms
    return new Date(this.now).toISOString()
  }
}
