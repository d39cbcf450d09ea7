import { describe, expect, test } from 'vitest'
import { SOURCES, type Source } from '../contract/reading.js'
import { randomFrom, told } from './random.cases.js'
import { echoes, emptySequence, place, type Sequence } from './tracker.js'

/** Tells figures one after another and returns what was thought of each. */
function tellAll(figures: [Source, number][], ahead = false): { verdicts: string[]; sequence: Sequence } {
  let sequence = emptySequence()
  const verdicts = figures.map(([source, used]) => {
    const result = place(sequence, source, used, ahead)
    sequence = result.sequence
    return result.verdict
  })
  return { verdicts, sequence }
}

describe('one figure after another', () => {
  test('a single source is always believed, also when its figure falls', () => {
    const figures = [10, 20, 15, 16, 3].map((used): [Source, number] => ['sdk', used])
    expect(tellAll(figures).verdicts).toEqual(Array(5).fill('new'))
    expect(tellAll(figures, true).verdicts).toEqual(Array(5).fill('new'))
  })

  test('a repeated figure is the same answer', () => {
    const verdicts = tellAll([
      ['transcript', 10],
      ['transcript', 10],
      ['status-line', 10],
      ['transcript', 10],
    ]).verdicts
    expect(verdicts).toEqual(['new', 'same', 'same', 'same'])
  })

  test('a source that comes after the others tells history until it catches up', () => {
    const verdicts = tellAll([
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

  test('a figure the others skipped is late while they are ahead, and new when they have long been silent', () => {
    const figures: [Source, number][] = [
      ['status-line', 10],
      ['status-line', 30],
      ['transcript', 10],
      ['transcript', 20],
    ]
    expect(tellAll(figures, true).verdicts.at(-1)).toBe('late')
    expect(tellAll(figures, true).sequence).toEqual({
      seen: [10, 20, 30],
      reached: { 'status-line': 2, transcript: 1 },
    })
    expect(tellAll(figures, false).verdicts.at(-1)).toBe('new')
  })

  test('a fall told by a source that has caught up is news at once', () => {
    const verdicts = tellAll(
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

  test('is bounded, and a source left far behind neither fails nor is believed', () => {
    let sequence = emptySequence()
    sequence = place(sequence, 'status-line', 1).sequence
    for (let used = 2; used <= 500; used++) sequence = place(sequence, 'transcript', used).sequence
    expect(sequence.seen.length).toBeLessThanOrEqual(32)
    expect(sequence.reached['status-line']).toBe(-1)
    const late = place(sequence, 'status-line', 2, true)
    expect(late.verdict).toBe('late')
    expect(late.sequence.seen.at(-1)).toBe(500)
    expect(place(late.sequence, 'status-line', 500, true).verdict).toBe('same')
  })
})

describe('echoes of the cycle before', () => {
  const before: Sequence = { seen: [10, 20, 30], reached: { transcript: 2, 'status-line': 1, mod: -1 } }

  test('are what a source had just told or would have told next', () => {
    expect([10, 20, 30, 40].filter((used) => echoes(before, 'status-line', used))).toEqual([20, 30])
    expect([10, 20, 30].filter((used) => echoes(before, 'mod', used))).toEqual([10, 20, 30])
    expect([10, 20, 30].filter((used) => echoes(before, 'sdk', used))).toEqual([10, 20, 30])
    expect(echoes(emptySequence(), 'sdk', 10)).toBe(false)
  })
})

describe('any interleaving', () => {
  const seeds = Array.from({ length: 300 }, (_, seed) => seed)

  test('of a rising climb leaves the highest figure anybody told, and calls no figure new twice', () => {
    for (const seed of seeds) {
      const random = randomFrom(seed)
      const rising = Array.from({ length: 3 + random(60) }, (_, n) => (n + 1) * 1000 + random(900))
      const figures = told(rising, SOURCES.slice(0, 2 + random(4)), random)
      let sequence = emptySequence()
      let highest = 0
      let used = 0
      const news: number[] = []
      for (const [source, figure] of figures) {
        const result = place(sequence, source, figure, true)
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

  test('of a climb with falls leaves what the transcript told last, if it tells all and nobody is ahead of it', () => {
    for (const seed of seeds) {
      const random = randomFrom(seed)
      const climb = Array.from(
        { length: 3 + random(13) },
        (_, n) => n * 1000 + random(999) - (random(4) === 0 ? 20_000 : 0),
      )
      const others = told(climb, ['status-line', 'mod'], random)
      let sequence = emptySequence()
      let used: number | null = null
      let newest = -1
      const tell = (source: Source, figure: number): void => {
        const result = place(sequence, source, figure, true)
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
