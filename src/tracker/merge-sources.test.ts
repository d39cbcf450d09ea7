import { describe, expect, test } from 'vitest'
import { READING_SOURCES, type ReadingSource } from '../contract/reading.js'
import { randomFrom, reportsOf } from './random.cases.js'
import { type AnswerSequence, emptySequence, isFromPreviousCycle, placeReading } from './tracker.js'

/** Feeds readings one after another and returns the verdict about each. */
function placeAll(figures: [ReadingSource, number][], ahead = false): { verdicts: string[]; sequence: AnswerSequence } {
  let sequence = emptySequence()
  const verdicts = figures.map(([source, used]) => {
    const result = placeReading(sequence, source, used, ahead)
    sequence = result.sequence
    return result.verdict
  })
  return { verdicts, sequence }
}

describe('one figure after another', () => {
  test('a single source is always accepted, also when its number falls', () => {
    const figures = [10, 20, 15, 16, 3].map((used): [ReadingSource, number] => ['sdk', used])
    expect(placeAll(figures).verdicts).toEqual(Array(5).fill('new'))
    expect(placeAll(figures, true).verdicts).toEqual(Array(5).fill('new'))
  })

  test('a repeated number is the same answer', () => {
    const verdicts = placeAll([
      ['transcript', 10],
      ['transcript', 10],
      ['status-line', 10],
      ['transcript', 10],
    ]).verdicts
    expect(verdicts).toEqual(['new', 'same', 'same', 'same'])
  })

  test('a source that reports after the others is late until it catches up', () => {
    const verdicts = placeAll([
      ['transcript', 10],
      ['transcript', 20],
      ['transcript', 30],
      ['status-line', 10],
      ['status-line', 30],
      ['status-line', 40],
      ['transcript', 40],
    ]).verdicts
    expect(verdicts).toEqual(['new', 'new', 'new', 'late', 'same', 'new', 'same'])
  })

  test('a number that other sources skipped is late while they are ahead, and new when they have been silent', () => {
    const figures: [ReadingSource, number][] = [
      ['status-line', 10],
      ['status-line', 30],
      ['transcript', 10],
      ['transcript', 20],
    ]
    expect(placeAll(figures, true).verdicts.at(-1)).toBe('late')
    expect(placeAll(figures, true).sequence).toEqual({
      seen: [10, 20, 30],
      reached: { 'status-line': 2, transcript: 1 },
    })
    expect(placeAll(figures, false).verdicts.at(-1)).toBe('new')
  })

  test('a lower number from a source that has caught up is new at once', () => {
    const verdicts = placeAll(
      [
        ['status-line', 10],
        ['transcript', 10],
        ['transcript', 90],
        ['transcript', 40],
        ['status-line', 90],
        ['status-line', 40],
      ],
      true,
    ).verdicts
    expect(verdicts).toEqual(['new', 'same', 'new', 'new', 'late', 'same'])
  })

  test('the sequence is bounded, and a source far behind it neither fails nor is accepted', () => {
    let sequence = emptySequence()
    sequence = placeReading(sequence, 'status-line', 1).sequence
    for (let used = 2; used <= 500; used++) sequence = placeReading(sequence, 'transcript', used).sequence
    expect(sequence.seen.length).toBeLessThanOrEqual(32)
    expect(sequence.reached['status-line']).toBe(-1)
    const late = placeReading(sequence, 'status-line', 2, true)
    expect(late.verdict).toBe('late')
    expect(late.sequence.seen.at(-1)).toBe(500)
    expect(placeReading(late.sequence, 'status-line', 500, true).verdict).toBe('same')
  })
})

describe('echoes of the cycle before', () => {
  const before: AnswerSequence = { seen: [10, 20, 30], reached: { transcript: 2, 'status-line': 1, mod: -1 } }

  test('readings of the previous cycle are recognised if the source had just reported them or would next', () => {
    expect([10, 20, 30, 40].filter((used) => isFromPreviousCycle(before, 'status-line', used))).toEqual([20, 30])
    expect([10, 20, 30].filter((used) => isFromPreviousCycle(before, 'mod', used))).toEqual([10, 20, 30])
    expect([10, 20, 30].filter((used) => isFromPreviousCycle(before, 'sdk', used))).toEqual([10, 20, 30])
    expect(isFromPreviousCycle(emptySequence(), 'sdk', 10)).toBe(false)
  })
})

describe('any interleaving', () => {
  const seeds = Array.from({ length: 300 }, (_, seed) => seed)

  test('any interleaving of a rising climb keeps the highest number and calls none new twice', () => {
    for (const seed of seeds) {
      const random = randomFrom(seed)
      const rising = Array.from({ length: 3 + random(60) }, (_, n) => (n + 1) * 1000 + random(900))
      const figures = reportsOf(rising, READING_SOURCES.slice(0, 2 + random(4)), random)
      let sequence = emptySequence()
      let highest = 0
      let used = 0
      const news: number[] = []
      for (const [source, figure] of figures) {
        const result = placeReading(sequence, source, figure, true)
        sequence = result.sequence
        if (result.verdict === 'new') {
          news.push(figure)
          used = figure
        }
        highest = Math.max(highest, figure)
        expect({ seed, used }).toEqual({ seed, used: highest })
      }
      expect({ seed, news: new Set(news).size }).toEqual({ seed, news: news.length })
      expect(news).toEqual([...news].sort((a, b) => a - b))
    }
  })

  test('any interleaving of a climb with falls keeps the last number of a complete transcript', () => {
    for (const seed of seeds) {
      const random = randomFrom(seed)
      const climb = Array.from(
        { length: 3 + random(13) },
        (_, n) => n * 1000 + random(999) - (random(4) === 0 ? 20_000 : 0),
      )
      const others = reportsOf(climb, ['status-line', 'mod'], random)
      let sequence = emptySequence()
      let used: number | null = null
      let newest = -1
      const tell = (source: ReadingSource, figure: number): void => {
        const result = placeReading(sequence, source, figure, true)
        sequence = result.sequence
        if (result.verdict === 'new') used = figure
      }
      for (const [source, figure] of others) {
        while (newest < climb.indexOf(figure)) tell('transcript', climb[++newest]!)
        tell(source, figure)
        expect({ seed, used }).toEqual({ seed, used: climb[newest] })
      }
    }
  })
})
