/** The beginning and the end of what a program prints, however much lies between: never more than `head + tail` bytes are held. */
export class KeptOutput {
  private readonly first: Buffer[] = []
  private firstBytes = 0
  private last: Buffer[] = []
  private lastBytes = 0
  /** All that was printed. */
  bytes = 0

  constructor(
    private readonly head: number,
    private readonly tail: number,
  ) {}

  take(chunk: Buffer): void {
    this.bytes += chunk.length
    const room = this.head - this.firstBytes
    const now = room > 0 ? chunk.subarray(0, room) : null
    if (now) {
      this.first.push(Buffer.from(now))
      this.firstBytes += now.length
    }
    const rest = now ? chunk.subarray(now.length) : chunk
    if (rest.length === 0) return
    this.last.push(Buffer.from(rest))
    this.lastBytes += rest.length
    // Joined only now and then: a program that prints byte by byte must not cost a copy of the end for each.
    if (this.lastBytes <= 2 * this.tail && this.last.length <= 4_096) return
    this.last = [this.end()]
    this.lastBytes = this.last[0]!.length
  }

  /** Bytes that lie between beginning and end and are gone. */
  get dropped(): number {
    return Math.max(0, this.bytes - this.firstBytes - this.tail)
  }

  text(): string {
    const head = Buffer.concat(this.first)
    const tail = this.end()
    if (this.dropped === 0) return Buffer.concat([head, tail]).toString('utf8')
    const cut = `… ${this.dropped} bytes left out …\n`
    const before = head.length === 0 ? '' : `${head.toString('utf8').replace(/\uFFFD$/, '')}\n`
    return `${before}${cut}${tail.toString('utf8').replace(/^\uFFFD+/, '')}`
  }

  private end(): Buffer {
    const whole = Buffer.concat(this.last)
    return whole.subarray(Math.max(0, whole.length - this.tail))
  }
}
