import { describe, expect, test } from 'vitest'
import { fullAt, hasRoom, isFull } from './job-levels.js'

const climb = { point: 167_000, window: 200_000, remaining: 0.1, growth: [] as number[] }

describe('when a session of a job is full', () => {
  test('a session is full by the configured fraction before the compaction point', () => {
    expect(fullAt(climb)).toBe(150_300)
    expect(fullAt({ ...climb, remaining: 0.5 })).toBe(83_500)
    expect([isFull(150_299, climb), isFull(150_300, climb)]).toEqual([false, true])
  })

  test('a session is full earlier if one more batch would cross the compaction point', () => {
    expect(fullAt({ ...climb, growth: [15_000, 15_100] })).toBe(145_900)
    expect(fullAt({ ...climb, point: 967_000, growth: [40_000] })).toBe(870_300)
  })

  test('the largest of the last batches counts, not an old one', () => {
    expect(fullAt({ ...climb, growth: [60_000, ...Array(8).fill(1_000)] })).toBe(150_300)
  })

  test('a session is never full before half of its context, however large its steps are', () => {
    expect(fullAt({ ...climb, growth: [150_000] })).toBe(83_500)
  })

  test('without a compaction point a share of the window counts, and without a window nothing is full', () => {
    expect(fullAt({ ...climb, point: null })).toBe(144_000)
    expect(fullAt({ ...climb, point: null, window: null })).toBeNull()
    expect(isFull(10_000_000, { ...climb, point: null, window: null })).toBe(false)
  })

  test('a fraction of zero or one is limited to a sensible range', () => {
    expect(fullAt({ ...climb, remaining: 0 })).toBe(161_000)
    expect(fullAt({ ...climb, remaining: 1 })).toBe(83_500)
  })

  test('room is confirmed without measuring only if no batch of that size could fill the session', () => {
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
