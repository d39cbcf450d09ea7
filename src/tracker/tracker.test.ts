import { describe, expect, test } from 'vitest'
import type { Track } from '../contract/records/session.js'
import { climb, LEVELS, levelsAt, limitsOf, reading, time } from './climb.cases.js'
import { addToPast, crossLevels, currentLevel, newsOf, rearm, relevel, startTrack } from './tracker.js'

describe('levels', () => {
  test('are reached once, in their order, however often the figure comes', () => {
    const c = climb()
    for (const used of [10, 49, 50, 51, 51, 70, 71]) c.tell(used)
    expect(c.crossed).toEqual(['notice', 'warning'])
    expect(currentLevel(c.track)).toBe('warning')
    expect(c.track.latched.map((latch) => [latch.name, latch.atTokens, latch.crossedAt])).toEqual([
      ['notice', 50, time(3)],
      ['warning', 70, time(6)],
    ])
  })

  test('jumped over together are all reached by one reading, lowest first', () => {
    const c = climb()
    c.tell(10)
    c.tell(90)
    expect(c.crossed).toEqual(['notice', 'warning', 'handoff'])
    expect(currentLevel(c.track)).toBe('handoff')
  })

  test('stay reached when the figure falls and climbs again', () => {
    const c = climb()
    for (const used of [75, 20, 60, 75, 10, 71]) c.tell(used)
    expect(c.crossed).toEqual(['notice', 'warning'])
  })

  test('that cannot be placed are never reached', () => {
    const c = climb(levelsAt({ notice: null, tokens: 40 }))
    c.tell(1_000_000)
    expect(c.crossed).toEqual(['tokens'])
  })

  test('are none while the figure is unknown', () => {
    expect(crossLevels(startTrack(time(0), 'start'), levelsAt({ zero: 0 }), time(1)).crossed).toEqual([])
    expect(currentLevel(startTrack(time(0), 'start'))).toBeNull()
  })
})

describe('a new cycle', () => {
  test('knows no figure, has every level open, and is one further', () => {
    const c = climb()
    c.tell(90)
    c.reset()
    expect(c.track).toMatchObject({
      cycle: 2,
      cycleReason: 'compaction',
      used: null,
      latched: [],
      base: null,
      fresh: true,
    })
    c.tell(20)
    c.tell(55)
    expect(c.crossed).toEqual(['notice', 'warning', 'handoff', 'notice'])
    expect(c.track.base).toBe(20)
  })

  test('that starts above a level reaches it once', () => {
    const c = climb()
    c.tell(90)
    c.reset()
    c.crossed.length = 0
    c.tell(55)
    c.tell(57)
    c.tell(52)
    expect(c.crossed).toEqual(['notice'])
  })

  test('keeps limits, model and the producers’ clocks', () => {
    const c = climb()
    c.change((track) => relevel(track, limitsOf(100), []))
    c.tell(90, { model: 'big', stamp: 7 })
    c.reset()
    expect(c.track).toMatchObject({ limits: limitsOf(100), model: 'big', stamps: { transcript: 7 } })
  })

  test('begins by itself when a source that knew a figure knows none any more', () => {
    const c = climb()
    c.tell(90, { source: 'status-line' })
    expect(c.tell(null, { source: 'status-line' })).toBe('unknown')
    expect(c.track).toMatchObject({ cycle: 2, cycleReason: 'compaction', used: null, latched: [] })
  })

  test('does not begin because a source that never told a figure knows none', () => {
    const c = climb()
    c.tell(90)
    expect(c.tell(null, { source: 'status-line' })).toBe('unknown')
    expect(c.track).toMatchObject({ cycle: 1, used: 90 })
    c.reset()
    expect(c.tell(null, { source: 'status-line' })).toBe('unknown')
    expect(c.tell(null)).toBe('unknown')
    expect(c.track.cycle).toBe(2)
  })
})

describe('after a reset, a late echo neither warns nor mutes', () => {
  test.each(['status-line', 'mod', 'sdk'] as const)(
    'when %s repeats its last figure before anybody told a new one',
    (source) => {
      const c = climb()
      c.tell(90)
      c.tell(90, { source })
      c.reset()
      c.crossed.length = 0
      expect(c.tell(90, { source })).toBe('late')
      expect(c.track).toMatchObject({ used: null, latched: [] })
      c.tell(20)
      c.tell(55)
      expect(c.crossed).toEqual(['notice'])
    },
  )

  test('when a source first tells the old figure after the new cycle was already measured', () => {
    const c = climb()
    c.tell(60)
    c.tell(60, { source: 'status-line' })
    c.tell(90)
    c.reset()
    c.crossed.length = 0
    c.tell(20)
    expect(c.tell(90, { source: 'status-line' })).toBe('late')
    expect(c.track).toMatchObject({ used: 20, latched: [] })
    expect(c.tell(20, { source: 'status-line' })).toBe('confirmed')
    expect(c.tell(90, { source: 'status-line' })).toBe('accepted')
    expect(c.crossed).toEqual(['notice', 'warning', 'handoff'])
  })

  test('when its figure was never heard before: with a transcript, that alone tells the first one', () => {
    const c = climb()
    c.tell(60)
    c.reset()
    c.crossed.length = 0
    expect(c.tell(91, { source: 'status-line', transcript: true })).toBe('unvouched')
    expect(c.track).toMatchObject({ used: null, fresh: true, latched: [] })
    expect(c.tell(20, { transcript: true })).toBe('accepted')
    expect(c.tell(25, { source: 'status-line', transcript: true })).toBe('accepted')
    expect(c.crossed).toEqual([])
  })

  test('when the transcript itself showed that figure only after the reset', () => {
    const c = climb()
    c.tell(60)
    c.reset()
    c.crossed.length = 0
    c.change((track) => addToPast(track, [reading(88), reading(null), reading(91)]))
    c.tell(20)
    expect(c.tell(91, { source: 'status-line' })).toBe('late')
    expect(c.track).toMatchObject({ used: 20, latched: [] })
  })

  test('a transcript that never shows an answer does not silence the others for good', () => {
    const c = climb()
    c.tell(60, { source: 'status-line' })
    c.reset()
    expect(c.tell(20, { source: 'status-line', transcript: true })).toBe('unvouched')
    expect(c.tell(25, { source: 'status-line', transcript: true, after: 61 })).toBe('accepted')
    expect(c.track).toMatchObject({ used: 25, fresh: false })
  })

  test('without a transcript the first new figure of any source is taken', () => {
    const c = climb()
    c.tell(60, { source: 'status-line' })
    c.reset()
    expect(c.tell(20, { source: 'status-line' })).toBe('accepted')
  })
})

describe('when the levels move', () => {
  test('those that now lie above the figure are open again, those below and those that stayed are not', () => {
    const c = climb()
    c.tell(90)
    const moved = levelsAt({ notice: 50, warning: 88, handoff: 120, critical: 140 })
    c.change((track) => relevel(track, limitsOf(150), moved))
    expect(c.track.latched.map((latch) => [latch.name, latch.atTokens])).toEqual([
      ['notice', 50],
      ['warning', 88],
    ])
    expect(crossLevels(c.track, moved, time(9)).crossed).toEqual([])
    expect(c.track.limits).toEqual(limitsOf(150))
  })

  test('a level that stayed put is not opened by a lower figure', () => {
    const c = climb()
    c.tell(90)
    c.tell(10)
    c.change((track) => relevel(track, limitsOf(100), LEVELS))
    expect(c.track.latched).toHaveLength(3)
  })

  test('while the figure is unknown, or where they stand is, nothing is opened', () => {
    const c = climb()
    c.tell(90)
    const unknown = levelsAt({ notice: null, warning: null, handoff: null, critical: null })
    c.change((track) => relevel(track, limitsOf(null), unknown))
    expect(c.track.latched).toHaveLength(3)
    expect(crossLevels(c.track, LEVELS, time(9)).crossed).toEqual([])
    const blank = { ...startTrack(time(0), 'start'), latched: c.track.latched }
    expect(relevel(blank, limitsOf(500), levelsAt({ notice: 400, warning: 401, handoff: 402 })).latched).toHaveLength(3)
  })

  test('a level that is configured no more keeps its latch', () => {
    const c = climb()
    c.tell(60)
    c.change((track) => relevel(track, limitsOf(100), levelsAt({ warning: 70 })))
    expect(c.track.latched.map((latch) => latch.name)).toEqual(['notice'])
  })

  test('switching on opens every level and keeps the figure', () => {
    const c = climb()
    c.tell(60)
    c.change(rearm)
    expect(c.track).toMatchObject({ used: 60, cycle: 1, latched: [] })
    expect(crossLevels(c.track, LEVELS, time(9)).crossed.map((level) => level.name)).toEqual(['notice'])
  })
})

describe('what the transcript newly shows', () => {
  const used = (track: Track, figures: number[]) =>
    newsOf(
      track,
      figures.map((n) => reading(n)),
    ).map((one) => one.used)

  test('is all of it, when no source told any', () => {
    expect(used(startTrack(time(0), 'start'), [10, 20, 30])).toEqual([10, 20, 30])
    expect(used(startTrack(time(0), 'start'), [])).toEqual([])
  })

  test('is only what comes from the newest answer another source already told', () => {
    const c = climb()
    c.tell(20, { source: 'status-line' })
    expect(used(c.track, [10, 20, 30])).toEqual([20, 30])
    expect(used(c.track, [10, 20])).toEqual([20])
    expect(used(c.track, [10, 15])).toEqual([10, 15])
  })
})
