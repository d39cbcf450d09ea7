import { describe, expect, test } from 'vitest'
import { READING_SOURCES } from '../contract/reading.js'
import { LEVELS, simulateClimb } from './climb.cases.js'
import { randomFrom, reportsOf } from './random.cases.js'
import { resetSourceClocks } from './tracker.js'

describe('late, repeated and out of order', () => {
  test('a reading with an older stamp of its source is late, whatever its number', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'status-line', stamp: 200 })
    expect(c.tell(96, { source: 'status-line', stamp: 199 })).toBe('late')
    expect(c.tell(null, { source: 'status-line', stamp: 199 })).toBe('late')
    expect(c.track.used).toBe(60)
    expect(c.crossed).toEqual(['notice'])
    expect(c.tell(61, { source: 'status-line', stamp: 200 })).toBe('accepted')
  })

  test('stamps of different sources are never compared, so a clock years behind is accepted', () => {
    const c = simulateClimb()
    c.tell(60, { stamp: Date.parse('2026-03-01') })
    expect(c.tell(70, { source: 'sdk', stamp: Date.parse('1999-01-01') })).toBe('accepted')
    expect(c.tell(71, { source: 'mod', stamp: 3 })).toBe('accepted')
    expect(c.track.used).toBe(71)
  })

  test('a source whose clock was set back is accepted again after ten quiet minutes', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'sdk', stamp: Date.parse('2031-01-01') })
    expect(c.tell(65, { source: 'sdk', stamp: Date.parse('2026-03-01') })).toBe('late')
    expect(c.tell(71, { source: 'sdk', stamp: Date.parse('2026-03-01'), after: 601 })).toBe('accepted')
    expect(c.tell(72, { source: 'sdk', stamp: Date.parse('2026-03-02') })).toBe('accepted')
    expect(c.tell(60, { source: 'sdk', stamp: Date.parse('2026-02-01') })).toBe('late')
  })

  test('a restarted client may begin its stamps again at zero', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'status-line', stamp: 500_000 })
    c.change(resetSourceClocks)
    expect(c.tell(61, { source: 'status-line', stamp: 10 })).toBe('accepted')
    expect(c.track).toMatchObject({ cycle: 1, latched: [{ name: 'notice' }] })
  })

  test('the same answer from a second source is confirmed and improves the recorded origin', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'sdk', answerId: null })
    expect(c.tell(60, { answerId: 'msg_1', usage: { input: 1, cacheCreation: 2, cacheRead: 57, output: 4 } })).toBe(
      'confirmed',
    )
    expect(c.track).toMatchObject({ source: 'transcript', answerId: 'msg_1', usage: { cacheRead: 57 } })
    c.tell(60, { source: 'mod', model: 'big[1m]' })
    expect(c.track).toMatchObject({ source: 'mod', model: 'big[1m]', answerId: 'msg_1' })
    c.tell(60, { source: 'status-line', model: 'big' })
    expect(c.track.source).toBe('mod')
  })

  test('an inexact number stays inexact when another source repeats it, unless that is the client itself', () => {
    const c = simulateClimb()
    c.tell(60, { exact: false })
    c.tell(60, { source: 'status-line', exact: true })
    expect(c.track.exact).toBe(false)
    c.tell(60, { source: 'mod', exact: true })
    expect(c.track.exact).toBe(true)
    c.tell(60, { exact: false })
    expect(c.track.exact).toBe(true)
    const other = simulateClimb()
    other.tell(60, { source: 'status-line', exact: true })
    other.tell(60, { exact: false })
    expect(other.track.exact).toBe(false)
  })

  test('an answer reported after a later one changes nothing', () => {
    const c = simulateClimb()
    c.tell(60, { source: 'status-line' })
    c.tell(80, { source: 'status-line' })
    for (const used of [55, 60, 72]) expect(c.tell(used)).toBe('late')
    expect(c.track.used).toBe(80)
    expect(c.tell(80)).toBe('confirmed')
    expect(c.tell(30)).toBe('accepted')
  })

  test('in any order and from any sources, each level is crossed once and the highest number is kept', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = randomFrom(seed)
      const c = simulateClimb()
      const rising = Array.from({ length: 4 + random(10) }, (_, n) => 30 + n * 7 + random(6))
      const figures = reportsOf(rising, READING_SOURCES.slice(0, 1 + random(5)), random)
      for (const [source, used] of figures) c.tell(used, { source, after: 0.05, transcript: true })
      const highest = Math.max(0, ...figures.map(([, used]) => used))
      const reached = LEVELS.filter((level) => level.atTokens! <= highest).map((level) => level.name)
      expect({ seed, crossed: c.crossed, used: c.track.used ?? 0 }).toEqual({ seed, crossed: reached, used: highest })
    }
  })

  test('in any order around a reset, no reading of the old cycle crosses a level of the new one', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = randomFrom(seed)
      const c = simulateClimb()
      const old = Array.from({ length: 3 + random(6) }, (_, n) => 52 + n * 5)
      const figures = reportsOf(old, ['status-line', 'mod'], random)
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
