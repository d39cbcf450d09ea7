import { describe, expect, test } from 'vitest'
import { hasRoomForBatch, isSessionFull, stopAtTokens } from './job-levels.js'

const climb = { point: 167_000, window: 200_000, remaining: 0.1, growth: [] as number[] }

describe('when a session of a job is full', () => {
  test('a session is full by the configured fraction before the compaction point', () => {
    expect(stopAtTokens(climb)).toBe(150_300)
    expect(stopAtTokens({ ...climb, remaining: 0.5 })).toBe(83_500)
    expect([isSessionFull(150_299, climb), isSessionFull(150_300, climb)]).toEqual([false, true])
  })

  test('a session is full earlier if one more batch would cross the compaction point', () => {
    expect(stopAtTokens({ ...climb, growth: [15_000, 15_100] })).toBe(145_900)
    expect(stopAtTokens({ ...climb, point: 967_000, growth: [40_000] })).toBe(870_300)
  })

  test('the largest of the last batches counts, not an old one', () => {
    expect(stopAtTokens({ ...climb, growth: [60_000, ...Array(8).fill(1_000)] })).toBe(150_300)
  })

  test('a session is never full before half of its context, however large its steps are', () => {
    expect(stopAtTokens({ ...climb, growth: [150_000] })).toBe(83_500)
  })

  test('without a compaction point a share of the window counts, and without a window nothing is full', () => {
    expect(stopAtTokens({ ...climb, point: null })).toBe(144_000)
    expect(stopAtTokens({ ...climb, point: null, window: null })).toBeNull()
    expect(isSessionFull(10_000_000, { ...climb, point: null, window: null })).toBe(false)
  })

  test('a fraction of zero or one is limited to a sensible range', () => {
    expect(stopAtTokens({ ...climb, remaining: 0 })).toBe(161_000)
    expect(stopAtTokens({ ...climb, remaining: 1 })).toBe(83_500)
  })

  test('room is confirmed without measuring only if no batch of that size could fill the session', () => {
    expect(hasRoomForBatch(100_000, 2_000, climb)).toBe(true)
    expect(hasRoomForBatch(100_000, 30_000, climb)).toBe(false)
    expect(hasRoomForBatch(150_000, 10, climb)).toBe(false)
    expect(hasRoomForBatch(140_000, 10, { ...climb, growth: [40_000] })).toBe(false)
    expect(hasRoomForBatch(100_000, 10, { ...climb, point: null, window: null })).toBe(false)
    for (let used = 60_000; used < 170_000; used += 1_000)
      for (const bytes of [10, 5_000, 60_000])
        if (hasRoomForBatch(used, bytes, climb))
          expect(isSessionFull(used + bytes, { ...climb, growth: [bytes] }), `${used} and ${bytes} bytes`).toBe(false)
  })
})
