import { describe, expect, test } from 'vitest'
import type { Track } from '../contract/records/session.js'
import { LEVELS, levelsAt, limitsOf, reading, simulateClimb, time } from './climb.cases.js'
import {
  addToPreviousCycle,
  crossLevels,
  currentLevel,
  moveLevels,
  newAnswers,
  reopenLevels,
  startTrack,
} from './tracker.js'

describe('levels', () => {
  test('each level is crossed once, in order, however often the number is reported', () => {
    const c = simulateClimb()
    for (const used of [10, 49, 50, 51, 51, 70, 71]) c.tell(used)
    expect(c.crossed).toEqual(['notice', 'warning'])
    expect(currentLevel(c.track)).toBe('warning')
    expect(c.track.latched.map((latch) => [latch.name, latch.atTokens, latch.crossedAt])).toEqual([
      ['notice', 50, time(3)],
      ['warning', 70, time(6)],
    ])
  })

  test('levels skipped in one jump are all crossed by one reading, lowest first', () => {
    const c = simulateClimb()
    c.tell(10)
    c.tell(90)
    expect(c.crossed).toEqual(['notice', 'warning', 'handoff'])
    expect(currentLevel(c.track)).toBe('handoff')
  })

  test('a level stays crossed when the number falls and climbs again', () => {
    const c = simulateClimb()
    for (const used of [75, 20, 60, 75, 10, 71]) c.tell(used)
    expect(c.crossed).toEqual(['notice', 'warning'])
  })

  test('a level without a place is never crossed', () => {
    const c = simulateClimb(levelsAt({ notice: null, tokens: 40 }))
    c.tell(1_000_000)
    expect(c.crossed).toEqual(['tokens'])
  })

  test('no level is crossed while the number is unknown', () => {
    expect(crossLevels(startTrack(time(0), 'start'), levelsAt({ zero: 0 }), time(1)).crossed).toEqual([])
    expect(currentLevel(startTrack(time(0), 'start'))).toBeNull()
  })
})

describe('a new cycle', () => {
  test('a new cycle has no number and no crossed levels', () => {
    const c = simulateClimb()
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

  test('a new cycle that starts above a level crosses it once', () => {
    const c = simulateClimb()
    c.tell(90)
    c.reset()
    c.crossed.length = 0
    c.tell(55)
    c.tell(57)
    c.tell(52)
    expect(c.crossed).toEqual(['notice'])
  })

  test('a new cycle keeps limits, model and the stamps of the producers', () => {
    const c = simulateClimb()
    c.change((track) => moveLevels(track, limitsOf(100), []))
    c.tell(90, { model: 'big', stamp: 7 })
    c.reset()
    expect(c.track).toMatchObject({ limits: limitsOf(100), model: 'big', stamps: { transcript: 7 } })
  })

  test('a new cycle begins when a source that reported a number reports none', () => {
    const c = simulateClimb()
    c.tell(90, { source: 'status-line' })
    expect(c.tell(null, { source: 'status-line' })).toBe('unknown')
    expect(c.track).toMatchObject({ cycle: 2, cycleReason: 'compaction', used: null, latched: [] })
  })

  test('no new cycle begins when a source that never reported a number reports none', () => {
    const c = simulateClimb()
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
    'after a reset, %s cannot cross a level by repeating its last number',
    (source) => {
      const c = simulateClimb()
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

  test('after a reset, a source that first reports the old number late cannot cross a level', () => {
    const c = simulateClimb()
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

  test('after a reset, only the transcript may report the first number if it is readable', () => {
    const c = simulateClimb()
    c.tell(60)
    c.reset()
    c.crossed.length = 0
    expect(c.tell(91, { source: 'status-line', transcript: true })).toBe('unvouched')
    expect(c.track).toMatchObject({ used: null, fresh: true, latched: [] })
    expect(c.tell(20, { transcript: true })).toBe('accepted')
    expect(c.tell(25, { source: 'status-line', transcript: true })).toBe('accepted')
    expect(c.crossed).toEqual([])
  })

  test('after a reset, a number that the transcript showed late for the old cycle cannot cross a level', () => {
    const c = simulateClimb()
    c.tell(60)
    c.reset()
    c.crossed.length = 0
    c.change((track) => addToPreviousCycle(track, [reading(88), reading(null), reading(91)]))
    c.tell(20)
    expect(c.tell(91, { source: 'status-line' })).toBe('late')
    expect(c.track).toMatchObject({ used: 20, latched: [] })
  })

  test('a transcript that never shows an answer silences other sources for at most a minute', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'status-line' })
    c.reset()
    expect(c.tell(20, { source: 'status-line', transcript: true })).toBe('unvouched')
    expect(c.tell(25, { source: 'status-line', transcript: true, after: 61 })).toBe('accepted')
    expect(c.track).toMatchObject({ used: 25, fresh: false })
  })

  test('without a transcript, the first new number of any source is accepted after a reset', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'status-line' })
    c.reset()
    expect(c.tell(20, { source: 'status-line' })).toBe('accepted')
  })
})

describe('when the levels move', () => {
  test('a level that moved above the number is open again, one that moved below or stayed is not', () => {
    const c = simulateClimb()
    c.tell(90)
    const moved = levelsAt({ notice: 50, warning: 88, handoff: 120, critical: 140 })
    c.change((track) => moveLevels(track, limitsOf(150), moved))
    expect(c.track.latched.map((latch) => [latch.name, latch.atTokens])).toEqual([
      ['notice', 50],
      ['warning', 88],
    ])
    expect(crossLevels(c.track, moved, time(9)).crossed).toEqual([])
    expect(c.track.limits).toEqual(limitsOf(150))
  })

  test('a level that did not move is not opened by a lower number', () => {
    const c = simulateClimb()
    c.tell(90)
    c.tell(10)
    c.change((track) => moveLevels(track, limitsOf(100), LEVELS))
    expect(c.track.latched).toHaveLength(3)
  })

  test('no level is opened while the number or its place is unknown', () => {
    const c = simulateClimb()
    c.tell(90)
    const unknown = levelsAt({ notice: null, warning: null, handoff: null, critical: null })
    c.change((track) => moveLevels(track, limitsOf(null), unknown))
    expect(c.track.latched).toHaveLength(3)
    expect(crossLevels(c.track, LEVELS, time(9)).crossed).toEqual([])
    const blank = { ...startTrack(time(0), 'start'), latched: c.track.latched }
    expect(
      moveLevels(blank, limitsOf(500), levelsAt({ notice: 400, warning: 401, handoff: 402 })).latched,
    ).toHaveLength(3)
  })

  test('a level that was removed from the configuration keeps its latch', () => {
    const c = simulateClimb()
    c.tell(60)
    c.change((track) => moveLevels(track, limitsOf(100), levelsAt({ warning: 70 })))
    expect(c.track.latched.map((latch) => latch.name)).toEqual(['notice'])
  })

  test('enabling Baton opens every level and keeps the number', () => {
    const c = simulateClimb()
    c.tell(60)
    c.change(reopenLevels)
    expect(c.track).toMatchObject({ used: 60, cycle: 1, latched: [] })
    expect(crossLevels(c.track, LEVELS, time(9)).crossed.map((level) => level.name)).toEqual(['notice'])
  })
})

describe('what the transcript newly shows', () => {
  const used = (track: Track, figures: number[]) =>
    newAnswers(
      track,
      figures.map((n) => reading(n)),
    ).map((one) => one.used)

  test('all answers of the transcript are new when no source reported any', () => {
    expect(used(startTrack(time(0), 'start'), [10, 20, 30])).toEqual([10, 20, 30])
    expect(used(startTrack(time(0), 'start'), [])).toEqual([])
  })

  test('only answers from the newest already reported one on are new', () => {
    const c = simulateClimb()
    c.tell(20, { source: 'status-line' })
    expect(used(c.track, [10, 20, 30])).toEqual([20, 30])
    expect(used(c.track, [10, 20])).toEqual([20])
    expect(used(c.track, [10, 15])).toEqual([10, 15])
  })
})
