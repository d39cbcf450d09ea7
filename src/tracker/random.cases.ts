import type { ReadingSource } from '../contract/reading.js'

/**
 * Creates a random generator that is the same in every run: `random(n)` is a whole number below n.
 */
export function randomFrom(seed: number): (below: number) => number {
  let state = (seed + 1) * 0x9e3779b1
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39)
    state ^= state >>> 15
    return (state >>> 0) % below
  }
}

/**
 * Returns what several sources report of one climb: each a part of it in order, sometimes twice,
 * interleaved at random.
 */
export function reportsOf(
  climb: readonly number[],
  sources: readonly ReadingSource[],
  random: (below: number) => number,
): [ReadingSource, number][] {
  const queues = sources.map((source) => {
    const keep = 1 + random(4)
    const part = climb.filter(() => random(4) < keep)
    return part.flatMap((used): [ReadingSource, number][] => Array(random(5) === 0 ? 2 : 1).fill([source, used]))
  })
  const all: [ReadingSource, number][] = []
  for (;;) {
    const waiting = queues.filter((queue) => queue.length > 0)
    if (waiting.length === 0) return all
    all.push(waiting[random(waiting.length)]!.shift()!)
  }
}
