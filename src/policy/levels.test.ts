import { describe, expect, test } from 'vitest'
import type { Position } from '../contract/level.js'
import type { Limits } from '../contract/reading.js'
import { handoffTokens, resolveLevels } from './levels.js'
import { levelAt, sampleLimits } from './samples.cases.js'

const at = (position: Position, limits: Limits) => {
  const { atTokens, reachable } = resolveLevels([levelAt('one', position)], limits)[0]!
  return [atTokens, reachable]
}
const small = sampleLimits(167_000)
const large = sampleLimits(967_000)
const windowOnly: Limits = { ...sampleLimits(null), window: 200_000 }

describe('where a level stands', () => {
  test('a level in percent of the compaction point is placed only when that point is known', () => {
    expect(at({ of: 'compaction', percent: 50 }, small)).toEqual([83_500, true])
    expect(at({ of: 'compaction', percent: 85 }, large)).toEqual([821_950, true])
    expect(at({ of: 'compaction', percent: 33.3 }, small)).toEqual([55_611, true])
    expect(at({ of: 'compaction', percent: 50 }, windowOnly)).toEqual([null, false])
  })

  test('a level in percent of the window is placed even without a compaction point', () => {
    expect(at({ of: 'window', percent: 70 }, small)).toEqual([140_000, true])
    expect(at({ of: 'window', percent: 70 }, large)).toEqual([700_000, true])
    expect(at({ of: 'window', percent: 70 }, windowOnly)).toEqual([140_000, true])
    expect(at({ of: 'window', percent: 70 }, sampleLimits(null))).toEqual([null, false])
  })

  test('a level in tokens is placed without knowing the window', () => {
    expect(at({ of: 'tokens', tokens: 150_000 }, small)).toEqual([150_000, true])
    expect(at({ of: 'tokens', tokens: 150_000 }, sampleLimits(null))).toEqual([150_000, true])
  })

  const first: Position = {
    of: 'first',
    positions: [
      { of: 'compaction', percent: 85 },
      { of: 'tokens', tokens: 300_000 },
    ],
  }
  test('a level with two positions is placed at the first, and nowhere until the window is known', () => {
    expect(at(first, small)).toEqual([141_950, true])
    expect(at(first, large)).toEqual([300_000, true])
    expect(at(first, sampleLimits(null))).toEqual([null, false])
    const isCapped = (limits: Limits) => resolveLevels([levelAt('one', first)], limits)[0]!.capped
    expect([small, large, sampleLimits(null)].map(isCapped)).toEqual([false, true, false])
  })

  test('gauges mark the first reachable level that asks for a handoff', () => {
    const levels = [
      { ...levelAt('early', { of: 'tokens', tokens: 10 }) },
      { ...levelAt('asks', first), actions: ['request-handoff' as const] },
      { ...levelAt('hands off', { of: 'tokens', tokens: 900_000 }), actions: ['hand-off' as const] },
    ]
    expect(handoffTokens(resolveLevels(levels, small))).toBe(141_950)
    expect(handoffTokens(resolveLevels(levels, large))).toBe(300_000)
    expect(handoffTokens(resolveLevels(levels.slice(0, 1), large))).toBeNull()
    expect(handoffTokens(resolveLevels(levels.slice(2), small))).toBeNull()
  })

  test('a level before compaction is placed at least at the first token', () => {
    expect(at({ of: 'before-compaction', tokens: 20_000 }, small)).toEqual([147_000, true])
    expect(at({ of: 'before-compaction', tokens: 500_000 }, small)).toEqual([1, true])
    expect(at({ of: 'before-compaction', tokens: 20_000 }, windowOnly)).toEqual([null, false])
  })

  test('a level at or beyond the compaction point is unreachable', () => {
    expect(at({ of: 'tokens', tokens: 166_999 }, small)[1]).toBe(true)
    expect(at({ of: 'tokens', tokens: 167_000 }, small)[1]).toBe(false)
    expect(at({ of: 'window', percent: 90 }, small)).toEqual([180_000, false])
    expect(at({ of: 'compaction', percent: 100 }, small)).toEqual([167_000, false])
  })

  test('a percentage level is never reached a token early', () => {
    const [tokens] = at({ of: 'compaction', percent: 70 }, sampleLimits(99_999)) as [number]
    expect(tokens / 99_999).toBeGreaterThanOrEqual(0.7)
    expect((tokens - 1) / 99_999).toBeLessThan(0.7)
  })
})

describe('several levels', () => {
  const levels = [
    levelAt('far', { of: 'compaction', percent: 95 }),
    levelAt('fixed', { of: 'tokens', tokens: 150_000 }),
    levelAt('half', { of: 'compaction', percent: 50 }),
  ]
  const names = (limits: Limits) => resolveLevels(levels, limits).map((level) => level.name)

  test("levels are sorted by their place in each session's window", () => {
    expect(names(small)).toEqual(['half', 'fixed', 'far'])
    expect(names(large)).toEqual(['fixed', 'half', 'far'])
    expect(names(small)).toEqual(['half', 'fixed', 'far'])
  })

  test('levels without a place are sorted last and keep their order', () => {
    expect(names(sampleLimits(null))).toEqual(['fixed', 'far', 'half'])
  })

  test('placed levels keep their actions, rule and origin', () => {
    expect(resolveLevels(levels, small)[0]).toMatchObject({ ...levels[2], atTokens: 83_500 })
    expect(levels.map((level) => level.name)).toEqual(['far', 'fixed', 'half'])
  })
})
