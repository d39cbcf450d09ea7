import { describe, expect, test } from 'vitest'
import type { Track } from '../contract/records/session.js'
import { estimateSteps, growthOf, millisecondsPerStep, stepsToCompaction } from './forecast.js'
import { applyReading, startTrack } from './tracker.js'

describe('the growth of a climb', () => {
  test('the growth is unknown before the second reading, and while nothing grows', () => {
    expect(growthOf({ seen: [] })).toBeNull()
    expect(growthOf({ seen: [50_000] })).toBeNull()
    expect(growthOf({ seen: [50_000, 50_000, 49_000] })).toBeNull()
  })

  test('the growth is the total increase divided by the number of steps', () => {
    expect(growthOf({ seen: [10_000, 11_000, 12_000, 13_000] })).toEqual({ perStep: 1_000, spread: 0, steps: 3 })
    expect(growthOf({ seen: [10_000, 16_000, 12_000, 13_000] })).toMatchObject({ perStep: 1_000, steps: 3 })
  })
})

describe('the steps left', () => {
  const even = { perStep: 1_000, spread: 0, steps: 10 }

  test('the steps left are the remaining tokens divided by the growth, rounded up', () => {
    expect(estimateSteps(10_000, even)).toEqual({ steps: 10, low: 10, high: 10 })
    expect(estimateSteps(10_001, even)).toEqual({ steps: 11, low: 11, high: 11 })
  })

  test('no steps are left at the target and behind it', () => {
    expect(estimateSteps(0, even)).toEqual({ steps: 0, low: 0, high: 0 })
    expect(estimateSteps(-5_000, even)).toEqual({ steps: 0, low: 0, high: 0 })
  })

  test('the range of steps left is wider when steps differ more, or fewer of them are known', () => {
    const wide = estimateSteps(50_000, { ...even, spread: 800 })
    const narrow = estimateSteps(50_000, { ...even, spread: 200 })
    const few = estimateSteps(50_000, { ...even, spread: 800, steps: 2 })
    expect(wide.low).toBeLessThan(narrow.low)
    expect(wide.high).toBeGreaterThan(narrow.high)
    expect(few.high).toBeGreaterThan(wide.high)
    expect(few.low).toBeGreaterThan(0)
  })

  test('the range of steps left contains the true number in about four of five random climbs', () => {
    let seed = 7
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed / 2_147_483_648
    }
    const step = (): number => 200 + random() * 3_000
    let held = 0
    for (let climb = 0; climb < 500; climb++) {
      const seen = [20_000]
      while (seen.length < 16) seen.push(seen.at(-1)! + step())
      const { low, high } = estimateSteps(60_000, growthOf({ seen })!)
      let steps = 0
      for (let left = 60_000; left > 0; left -= step()) steps++
      if (steps >= low && steps <= high) held++
    }
    expect(held / 500).toBeGreaterThan(0.72)
    expect(held / 500).toBeLessThan(0.92)
  })
})

describe('the steps left from one step to the next', () => {
  const at = '2026-03-01T10:00:00.000Z'
  const limits = { window: 200_000, point: 167_000, mode: 'proactive', exact: true, reason: 'test' } as const

  function climb(figures: readonly number[]): (number | null)[] {
    let track: Track = { ...startTrack(at, 'start'), limits }
    return figures.map((used) => {
      const reading = { source: 'transcript', used, usage: null, exact: true, model: null, answerId: null, stamp: null }
      track = applyReading(track, { ...reading, source: 'transcript' }, at, { transcript: true }).track
      return stepsToCompaction(track)
    })
  }

  test('a step smaller than the mean does not raise the steps left', () => {
    const left = climb([20_000, 23_000, 26_000, 29_000, 31_000, 34_000, 36_000, 40_000, 42_000, 45_000])
    const known = left.filter((steps) => steps !== null)
    expect(known).toHaveLength(9)
    for (const [i, steps] of known.entries()) if (i > 0) expect(steps).toBeLessThanOrEqual(known[i - 1]!)
  })

  test('the steps left rise when the climb clearly slows down', () => {
    const fast = [20_000, 30_000, 40_000, 50_000, 60_000]
    const slow = Array.from({ length: 14 }, (_, i) => 60_000 + (i + 1) * 500)
    const left = climb([...fast, ...slow])
    expect(left[4]).toBe(11)
    expect(left.at(-1)).toBeGreaterThan(50)
  })

  test('the steps left rise after fewer than one step in ten of random climbs', () => {
    let seed = 7
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed / 2_147_483_648
    }
    let rises = 0
    let steps = 0
    for (let i = 0; i < 30; i++) {
      const figures = [20_000]
      while (figures.at(-1)! < 160_000) figures.push(Math.round(figures.at(-1)! + 200 + random() * 3_000))
      const left = climb(figures).filter((one) => one !== null)
      steps += left.length - 1
      rises += left.slice(1).filter((one, k) => one > left[k]!).length
    }
    expect(rises / steps).toBeLessThan(0.1)
  })
})

describe('the pace', () => {
  test('the pace is the mean time between readings, with a pause counted as at most ten minutes', () => {
    expect(millisecondsPerStep([0])).toBeNull()
    expect(millisecondsPerStep([0, 20_000, 60_000])).toBe(30_000)
    expect(millisecondsPerStep([0, 20_000, 3 * 3_600_000])).toBe(310_000)
  })
})
