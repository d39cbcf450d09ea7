import type { Fail } from './script.js'

const KEPT = 10_000

/** Counts how often each answer of each conversation has failed. The oldest are forgotten first. */
export class Failures {
  private readonly counts = new Map<string, number>()

  /** What goes wrong this time; null: nothing any more, the answer is due. */
  next(key: string, fails: readonly Fail[]): Fail | null {
    if (fails.length === 0) return null
    let left = this.counts.get(key) ?? 0
    for (const fail of fails) {
      const times = fail.times ?? (fail.kind === 'too-long' ? 'always' : 1)
      if (times === 'always') return fail
      if (left < times) {
        this.count(key)
        return fail
      }
      left -= times
    }
    return null
  }

  private count(key: string): void {
    const count = (this.counts.get(key) ?? 0) + 1
    this.counts.delete(key)
    this.counts.set(key, count)
    if (this.counts.size > KEPT) this.counts.delete(this.counts.keys().next().value!)
  }
}
