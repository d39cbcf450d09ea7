import { describe, expect, it } from 'vitest'
import type { TranscriptPart } from '../../../../src/contract/api/archives.js'
import { covers, MOST, type ReadingWindow, readBack, readOn, windowOf, withWhole } from './reading-window.js'

const LAST = 5_000
/** Two entries a line, as a server would tell lines [from, to). */
function part(from: number, to: number): TranscriptPart {
  const entry = (line: number, text: string) => ({
    ...{ line, at: null, role: 'agent' as const, tool: null, call_id: null, ok: null, cut: true },
    text,
  })
  return {
    ...{ archive_id: 'arc_1', subagent: null, lines: LAST },
    entries: Array.from({ length: to - from }, (_, n) => [entry(from + n, 'a'), entry(from + n, 'b')]).flat(),
    next_line: to > LAST ? null : to,
    previous_line: from === 1 ? null : from,
  }
}
const edges = ({ entries, before, from }: ReadingWindow) => [entries[0]!.line, entries.at(-1)!.line, before, from]

describe('reading a long transcript', () => {
  it('what was read far above is let go while reading on, and comes back in the same place', () => {
    let window = windowOf(part(1, 101))
    for (let at = 101; at < 1_001; at += 100) window = readOn(window, part(at, at + 100))
    expect(window.entries.length).toBeLessThanOrEqual(MOST)
    expect(edges(window)).toEqual([701, 1_000, 701, 1_001])
    const back = readBack(window, part(601, 701))
    expect(edges(back)).toEqual([601, 900, 601, 901])
    const there = readOn(back, part(901, 1_001))
    expect(there.entries).toEqual(window.entries)
  })

  it('knows its beginning and its end', () => {
    expect(edges(readBack(windowOf(part(51, 101)), part(1, 51)))).toEqual([1, 100, null, 101])
    expect(edges(windowOf(part(4_901, 4_951), part(4_951, 5_001)))).toEqual([4_901, 5_000, 4_901, null])
  })

  it('knows which lines it covers', () => {
    const middle = windowOf(part(51, 101))
    expect([50, 51, 100, 101].map((line) => covers(middle, line))).toEqual([false, true, true, false])
    expect([covers(windowOf(part(4_951, 5_001)), 999_999_999), covers(windowOf(part(1, 11)), 1)]).toEqual([true, true])
  })

  it('a line is not divided', () => {
    const entries = part(1, 2 + MOST / 2).entries.slice(1)
    const window = readOn({ ...windowOf(part(1, 2)), entries: [] }, { ...part(1, 2), entries, next_line: null })
    expect(window.entries.length).toBeLessThanOrEqual(MOST)
    expect(window.entries[0]).toMatchObject({ line: 2, text: 'a' })
  })

  it('a text that was cut takes its whole place', () => {
    const whole = part(7, 8).entries.map((entry) => ({ ...entry, text: `${entry.text} and more`, cut: false }))
    const window = withWhole(windowOf(part(6, 9)), whole)
    expect(window.entries.map(({ text }) => text)).toEqual(['a', 'b', 'a and more', 'b and more', 'a', 'b'])
  })
})
