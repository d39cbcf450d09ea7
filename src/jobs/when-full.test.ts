import { describe, expect, test } from 'vitest'
import { fullAt, hasRoom, isFull } from './job-levels.js'

const climb = { point: 167_000, window: 200_000, remaining: 0.1, growth: [] as number[] }

describe('when a session of a job is full', () => {
  test('by the part of the way to the compaction point that is left', () => {
    expect(fullAt(climb)).toBe(150_300)
    expect(fullAt({ ...climb, remaining: 0.5 })).toBe(83_500)
    expect([isFull(150_299, climb), isFull(150_300, climb)]).toEqual([false, true])
  })

  test('earlier where one more batch would cross the point', () => {
    expect(fullAt({ ...climb, growth: [15_000, 15_100] })).toBe(145_900)
    expect(fullAt({ ...climb, point: 967_000, growth: [40_000] })).toBe(870_300)
  })

  test('by the largest of the last batches, not by one long ago', () => {
    expect(fullAt({ ...climb, growth: [60_000, ...Array(8).fill(1_000)] })).toBe(150_300)
  })

  test('never before half the way, however large the steps', () => {
    expect(fullAt({ ...climb, growth: [150_000] })).toBe(83_500)
  })

  test('below the window where the point is not known, and never where nothing is', () => {
    expect(fullAt({ ...climb, point: null })).toBe(144_000)
    expect(fullAt({ ...climb, point: null, window: null })).toBeNull()
    expect(isFull(10_000_000, { ...climb, point: null, window: null })).toBe(false)
  })

  test('a part of nothing or of everything is brought within reason', () => {
    expect(fullAt({ ...climb, remaining: 0 })).toBe(161_000)
    expect(fullAt({ ...climb, remaining: 1 })).toBe(83_500)
  })

  test('is told without asking only where no batch of that size could fill it', () => {
    expect(hasRoom(100_000, 2_000, climb)).toBe(true)
    expect(hasRoom(100_000, 30_000, climb)).toBe(false)
    expect(hasRoom(150_000, 10, climb)).toBe(false)
    expect(hasRoom(140_000, 10, { ...climb, growth: [40_000] })).toBe(false)
    expect(hasRoom(100_000, 10, { ...climb, point: null, window: null })).toBe(false)
    for (let used = 60_000; used < 170_000; used += 1_000)
      for (const bytes of [10, 5_000, 60_000])
        if (hasRoom(used, bytes, climb))
          expect(isFull(used + bytes, { ...climb, growth: [bytes] }), `${used} and ${bytes} bytes`).toBe(false)
  })
})
