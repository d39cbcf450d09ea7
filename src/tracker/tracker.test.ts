import { describe, expect, it } from 'vitest'
import type { ResolvedLevel } from '../contract/level.js'
import { type Limits, type Reading, SOURCES } from '../contract/reading.js'
import type { Track } from '../contract/record.js'
import { randomFrom, told } from './random.cases.js'
import {
  addToPast,
  beginCycle,
  crossLevels,
  currentLevel,
  NO_LIMITS,
  newsOf,
  type Outcome,
  rearm,
  relevel,
  restartClocks,
  startTrack,
  takeReading,
} from './tracker.js'

const START = Date.parse('2026-03-01T10:00:00.000Z')
const time = (seconds: number): string => new Date(START + seconds * 1000).toISOString()

function reading(used: number | null, changes: Partial<Reading> = {}): Reading {
  return { used, usage: null, exact: true, model: null, source: 'transcript', answerId: null, stamp: null, ...changes }
}

const limitsOf = (point: number | null): Limits => ({ ...NO_LIMITS, window: point === null ? null : point + 33_000, point })

function levelsAt(places: Record<string, number | null>): ResolvedLevel[] {
  return Object.entries(places).map(([name, atTokens]) => ({
    name,
    at: { of: 'tokens', tokens: atTokens ?? 0 },
    actions: ['user'],
    mode: 'sequential',
    rule: '',
    from: '',
    atTokens,
    reachable: true,
  }))
}

const LEVELS = levelsAt({ notice: 50, warning: 70, handoff: 85, critical: 95 })

/** A climb under test: tell it readings, see what was thought of them and which levels were reached. */
function climb(levels = LEVELS) {
  let track = startTrack(time(0), 'start')
  let seconds = 0
  const climbing = {
    get track() {
      return track
    },
    crossed: [] as string[],
    tell(used: number | null, changes: Partial<Reading> & { transcript?: boolean; after?: number } = {}): Outcome {
      const { transcript = false, after = 1, ...rest } = changes
      seconds += after
      const taken = takeReading(track, reading(used, rest), time(seconds), { transcript })
      const result = crossLevels(taken.track, levels, time(seconds))
      track = result.track
      climbing.crossed.push(...result.crossed.map((level) => level.name))
      return taken.outcome
    },
    change(work: (track: Track) => Track) {
      track = work(track)
    },
    reset() {
      seconds += 1
      track = beginCycle(track, time(seconds), 'compaction')
    },
  }
  return climbing
}

describe('levels', () => {
  it('are reached once, in their order, however often the figure comes', () => {
    const c = climb()
    for (const used of [10, 49, 50, 51, 51, 70, 71]) c.tell(used)
    expect(c.crossed).toEqual(['notice', 'warning'])
    expect(currentLevel(c.track)).toBe('warning')
    expect(c.track.latched.map((latch) => [latch.name, latch.atTokens, latch.crossedAt])).toEqual([
      ['notice', 50, time(3)],
      ['warning', 70, time(6)],
    ])
  })

  it('jumped over together are all reached by one reading, lowest first', () => {
    const c = climb()
    c.tell(10)
    c.tell(90)
    expect(c.crossed).toEqual(['notice', 'warning', 'handoff'])
    expect(currentLevel(c.track)).toBe('handoff')
  })

  it('stay reached when the figure falls and climbs again', () => {
    const c = climb()
    for (const used of [75, 20, 60, 75, 10, 71]) c.tell(used)
    expect(c.crossed).toEqual(['notice', 'warning'])
  })

  it('that cannot be placed are never reached', () => {
    const c = climb(levelsAt({ notice: null, tokens: 40 }))
    c.tell(1_000_000)
    expect(c.crossed).toEqual(['tokens'])
  })

  it('are none while the figure is unknown', () => {
    expect(crossLevels(startTrack(time(0), 'start'), levelsAt({ zero: 0 }), time(1)).crossed).toEqual([])
    expect(currentLevel(startTrack(time(0), 'start'))).toBeNull()
  })
})

describe('a new cycle', () => {
  it('knows no figure, has every level open, and is one further', () => {
    const c = climb()
    c.tell(90)
    c.reset()
    expect(c.track).toMatchObject({ cycle: 2, cycleReason: 'compaction', used: null, latched: [], base: null, fresh: true })
    c.tell(20)
    c.tell(55)
    expect(c.crossed).toEqual(['notice', 'warning', 'handoff', 'notice'])
    expect(c.track.base).toBe(20)
  })

  it('that starts above a level reaches it once', () => {
    const c = climb()
    c.tell(90)
    c.reset()
    c.crossed.length = 0
    c.tell(55)
    c.tell(57)
    c.tell(52)
    expect(c.crossed).toEqual(['notice'])
  })

  it('keeps limits, model and the producers’ clocks', () => {
    const c = climb()
    c.change((track) => relevel(track, limitsOf(100), []))
    c.tell(90, { model: 'big', stamp: 7 })
    c.reset()
    expect(c.track).toMatchObject({ limits: limitsOf(100), model: 'big', stamps: { transcript: 7 } })
  })

  it('begins by itself when a source that knew a figure knows none any more', () => {
    const c = climb()
    c.tell(90, { source: 'status-line' })
    expect(c.tell(null, { source: 'status-line' })).toBe('unknown')
    expect(c.track).toMatchObject({ cycle: 2, cycleReason: 'compaction', used: null, latched: [] })
  })

  it('does not begin because a source that never told a figure knows none', () => {
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
  it.each(['status-line', 'mod', 'sdk'] as const)('when %s repeats its last figure before anybody told a new one', (source) => {
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
  })

  it('when a source first tells the old figure after the new cycle was already measured', () => {
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

  it('when its figure was never heard before: with a transcript, that alone tells the first one', () => {
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

  it('when the transcript itself showed that figure only after the reset', () => {
    const c = climb()
    c.tell(60)
    c.reset()
    c.crossed.length = 0
    c.change((track) => addToPast(track, [reading(88), reading(null), reading(91)]))
    c.tell(20)
    expect(c.tell(91, { source: 'status-line' })).toBe('late')
    expect(c.track).toMatchObject({ used: 20, latched: [] })
  })

  it('a transcript that never shows an answer does not silence the others for good', () => {
    const c = climb()
    c.tell(60, { source: 'status-line' })
    c.reset()
    expect(c.tell(20, { source: 'status-line', transcript: true })).toBe('unvouched')
    expect(c.tell(25, { source: 'status-line', transcript: true, after: 61 })).toBe('accepted')
    expect(c.track).toMatchObject({ used: 25, fresh: false })
  })

  it('without a transcript the first new figure of any source is taken', () => {
    const c = climb()
    c.tell(60, { source: 'status-line' })
    c.reset()
    expect(c.tell(20, { source: 'status-line' })).toBe('accepted')
  })
})

describe('late, repeated and out of order', () => {
  it('a source’s older stamp is late, whatever the figure', () => {
    const c = climb()
    c.tell(60, { source: 'status-line', stamp: 200 })
    expect(c.tell(96, { source: 'status-line', stamp: 199 })).toBe('late')
    expect(c.tell(null, { source: 'status-line', stamp: 199 })).toBe('late')
    expect(c.track.used).toBe(60)
    expect(c.crossed).toEqual(['notice'])
    expect(c.tell(61, { source: 'status-line', stamp: 200 })).toBe('accepted')
  })

  it('stamps of different sources are never compared: a clock years behind counts', () => {
    const c = climb()
    c.tell(60, { stamp: Date.parse('2026-03-01') })
    expect(c.tell(70, { source: 'sdk', stamp: Date.parse('1999-01-01') })).toBe('accepted')
    expect(c.tell(71, { source: 'mod', stamp: 3 })).toBe('accepted')
    expect(c.track.used).toBe(71)
  })

  it('a clock that was set back is followed again once the source has been quiet too long to be merely late', () => {
    const c = climb()
    c.tell(60, { source: 'sdk', stamp: Date.parse('2031-01-01') })
    expect(c.tell(65, { source: 'sdk', stamp: Date.parse('2026-03-01') })).toBe('late')
    expect(c.tell(71, { source: 'sdk', stamp: Date.parse('2026-03-01'), after: 601 })).toBe('accepted')
    expect(c.tell(72, { source: 'sdk', stamp: Date.parse('2026-03-02') })).toBe('accepted')
    expect(c.tell(60, { source: 'sdk', stamp: Date.parse('2026-02-01') })).toBe('late')
  })

  it('a restarted client counts its time anew', () => {
    const c = climb()
    c.tell(60, { source: 'status-line', stamp: 500_000 })
    c.change(restartClocks)
    expect(c.tell(61, { source: 'status-line', stamp: 10 })).toBe('accepted')
    expect(c.track).toMatchObject({ cycle: 1, latched: [{ name: 'notice' }] })
  })

  it('the same answer from a second source is confirmed and improves where the figure comes from', () => {
    const c = climb()
    c.tell(60, { source: 'sdk', answerId: null })
    expect(c.tell(60, { answerId: 'msg_1', usage: { input: 1, cacheCreation: 2, cacheRead: 57, output: 4 } })).toBe('confirmed')
    expect(c.track).toMatchObject({ source: 'transcript', answerId: 'msg_1', usage: { cacheRead: 57 } })
    c.tell(60, { source: 'mod', model: 'big[1m]' })
    expect(c.track).toMatchObject({ source: 'mod', model: 'big[1m]', answerId: 'msg_1' })
    c.tell(60, { source: 'status-line', model: 'big' })
    expect(c.track.source).toBe('mod')
  })

  it('a figure one source doubts is not exact because another repeats it, unless it is the client’s own account', () => {
    const c = climb()
    c.tell(60, { exact: false })
    c.tell(60, { source: 'status-line', exact: true })
    expect(c.track.exact).toBe(false)
    c.tell(60, { source: 'mod', exact: true })
    expect(c.track.exact).toBe(true)
    c.tell(60, { exact: false })
    expect(c.track.exact).toBe(true)
    const other = climb()
    other.tell(60, { source: 'status-line', exact: true })
    other.tell(60, { exact: false })
    expect(other.track.exact).toBe(false)
  })

  it('an answer told only after a later one changes nothing', () => {
    const c = climb()
    c.tell(60, { source: 'status-line' })
    c.tell(80, { source: 'status-line' })
    for (const used of [55, 60, 72]) expect(c.tell(used)).toBe('late')
    expect(c.track.used).toBe(80)
    expect(c.tell(80)).toBe('confirmed')
    expect(c.tell(30)).toBe('accepted')
  })

  it('in any order and from any sources, every level is reached exactly once and the figure is the highest told', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = randomFrom(seed)
      const c = climb()
      const rising = Array.from({ length: 4 + random(10) }, (_, n) => 30 + n * 7 + random(6))
      const figures = told(rising, SOURCES.slice(0, 1 + random(5)), random)
      for (const [source, used] of figures) c.tell(used, { source, after: 0.05, transcript: true })
      const highest = Math.max(0, ...figures.map(([, used]) => used))
      const reached = LEVELS.filter((level) => level.atTokens! <= highest).map((level) => level.name)
      expect({ seed, crossed: c.crossed, used: c.track.used ?? 0 }).toEqual({ seed, crossed: reached, used: highest })
    }
  })

  it('in any order around a reset, no level of the new cycle is reached by a figure of the old one', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = randomFrom(seed)
      const c = climb()
      const old = Array.from({ length: 3 + random(6) }, (_, n) => 52 + n * 5)
      const figures = told(old, ['status-line', 'mod'], random)
      const cut = random(figures.length + 1)
      for (const used of old) c.tell(used, { after: 0.05, transcript: true })
      for (const [source, used] of figures.slice(0, cut)) c.tell(used, { source, after: 0.05, transcript: true })
      c.reset()
      c.crossed.length = 0
      const fresh = [20, 25, 30]
      for (const [source, used] of figures.slice(cut)) {
        if (fresh.length > 0 && random(3) === 0) c.tell(fresh.shift()!, { after: 0.05, transcript: true })
        c.tell(used, { source, after: 0.05, transcript: true })
      }
      for (const used of fresh) c.tell(used, { after: 0.05, transcript: true })
      expect({ seed, crossed: c.crossed, used: c.track.used }).toEqual({ seed, crossed: [], used: 30 })
      c.tell(51, { transcript: true })
      expect(c.crossed).toEqual(['notice'])
    }
  })
})

describe('when the levels move', () => {
  it('those that now lie above the figure are open again, those below and those that stayed are not', () => {
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

  it('a level that stayed put is not opened by a lower figure', () => {
    const c = climb()
    c.tell(90)
    c.tell(10)
    c.change((track) => relevel(track, limitsOf(100), LEVELS))
    expect(c.track.latched).toHaveLength(3)
  })

  it('while the figure is unknown, or where they stand is, nothing is opened', () => {
    const c = climb()
    c.tell(90)
    const unknown = levelsAt({ notice: null, warning: null, handoff: null, critical: null })
    c.change((track) => relevel(track, limitsOf(null), unknown))
    expect(c.track.latched).toHaveLength(3)
    expect(crossLevels(c.track, LEVELS, time(9)).crossed).toEqual([])
    const blank = { ...startTrack(time(0), 'start'), latched: c.track.latched }
    expect(relevel(blank, limitsOf(500), levelsAt({ notice: 400, warning: 401, handoff: 402 })).latched).toHaveLength(3)
  })

  it('a level that is configured no more keeps its latch', () => {
    const c = climb()
    c.tell(60)
    c.change((track) => relevel(track, limitsOf(100), levelsAt({ warning: 70 })))
    expect(c.track.latched.map((latch) => latch.name)).toEqual(['notice'])
  })

  it('switching on opens every level and keeps the figure', () => {
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

  it('is all of it, when no source told any', () => {
    expect(used(startTrack(time(0), 'start'), [10, 20, 30])).toEqual([10, 20, 30])
    expect(used(startTrack(time(0), 'start'), [])).toEqual([])
  })

  it('is only what comes from the newest answer another source already told', () => {
    const c = climb()
    c.tell(20, { source: 'status-line' })
    expect(used(c.track, [10, 20, 30])).toEqual([20, 30])
    expect(used(c.track, [10, 20])).toEqual([20])
    expect(used(c.track, [10, 15])).toEqual([10, 15])
  })
})
