import { describe, expect, test } from 'vitest'
import type { TranscriptPart } from '../../../../src/contract/api/archives.js'
import {
  aboutCall,
  aboutResult,
  appendLines,
  foldText,
  itemAt,
  prependLines,
  type ReadingWindow,
  readItems,
  type TranscriptEntry,
  WINDOW_LIMIT,
  windowHasLine,
  windowOf,
  withFullLine,
} from './transcript-lines.js'

const line = (change: Partial<TranscriptEntry>): TranscriptEntry => ({
  line: 1,
  at: null,
  role: 'agent' as const,
  tool: null,
  call_id: null,
  ok: null,
  text: '',
  cut: false,
  ...change,
})
const call = (at: number, id: string, text = 'npm test') =>
  line({ line: at, role: 'call', tool: 'Bash', call_id: id, text })
const result = (at: number, id: string, text = 'done', ok: boolean | null = true) =>
  line({ line: at, role: 'result', call_id: id, text, ok })

describe('items of a transcript', () => {
  test('a tool call and its result are one item at the place of the call', () => {
    const items = readItems([call(3, 'a'), call(3, 'b'), line({ line: 4, text: 'x' }), result(5, 'b'), result(6, 'a')])
    expect(items.map(({ key, kind, result: back }) => [key, kind, back?.line ?? null])).toEqual([
      ['3-0', 'tool', 6],
      ['3-1', 'tool', 5],
      ['4-0', 'said', null],
    ])
    expect([6, 5, 4, 2, 99].map((at) => itemAt(items, at)?.key)).toEqual(['3-0', '3-1', '4-0', '3-0', '4-0'])
    expect(itemAt([], 1)).toBeUndefined()
  })

  test('a result without its call is an item of its own, and so is a second result', () => {
    expect(readItems([result(5, 'gone'), call(6, 'a'), result(7, 'a'), result(8, 'a')]).map(({ key }) => key)).toEqual([
      '5-0',
      '6-0',
      '8-0',
    ])
  })

  test('the subject of a call is one line without the name of the tool', () => {
    expect(aboutCall(call(1, 'a', '\n  ls -la\nrm x'))).toBe('ls -la')
    expect(aboutCall(line({ role: 'call', tool: 'Read', text: 'Read src/a.ts' }))).toBe('src/a.ts')
    expect(aboutResult(result(2, 'a', 'a\nb\nc'))).toBe('3 lines')
    expect(aboutResult(result(2, 'a', 'no such file', false))).toBe('failed, no such file')
    expect(aboutResult(null)).toBe('')
  })

  test('a long text is folded with the number of hidden lines, unless only a few lines are hidden', () => {
    expect(foldText('a\nb')).toEqual({ shown: 'a\nb', hidden: 0 })
    expect(foldText('x\n'.repeat(25)).hidden).toBe(0)
    const { shown, hidden } = foldText('x\n'.repeat(100))
    expect([shown.split('\n').length, hidden]).toEqual([24, 77])
    expect(foldText('y'.repeat(10_000))).toEqual({ shown: 'y'.repeat(2_400), hidden: 1 })
  })
})

const LAST = 5_000
/** Part of a transcript with two entries per line, for the lines from `from` up to `to`. */
function part(from: number, to: number): TranscriptPart {
  const entry = (line: number, text: string) => ({
    line,
    at: null,
    role: 'agent' as const,
    tool: null,
    call_id: null,
    ok: null,
    cut: true,
    text,
  })
  return {
    archive_id: 'arc_1',
    subagent: null,
    lines: LAST,
    entries: Array.from({ length: to - from }, (_, n) => [entry(from + n, 'a'), entry(from + n, 'b')]).flat(),
    next_line: to > LAST ? null : to,
    previous_line: from === 1 ? null : from,
  }
}
const edges = ({ entries, before, from }: ReadingWindow) => [entries[0]!.line, entries.at(-1)!.line, before, from]

describe('reading a long transcript', () => {
  test('lines far above are dropped while scrolling down, and loaded again at the same place', () => {
    let window = windowOf(part(1, 101))
    for (let at = 101; at < 1_001; at += 100) window = appendLines(window, part(at, at + 100))
    expect(window.entries.length).toBeLessThanOrEqual(WINDOW_LIMIT)
    expect(edges(window)).toEqual([701, 1_000, 701, 1_001])
    const back = prependLines(window, part(601, 701))
    expect(edges(back)).toEqual([601, 900, 601, 901])
    const there = appendLines(back, part(901, 1_001))
    expect(there.entries).toEqual(window.entries)
  })

  test('a reading window knows when it reaches the start or the end of the transcript', () => {
    expect(edges(prependLines(windowOf(part(51, 101)), part(1, 51)))).toEqual([1, 100, null, 101])
    expect(edges(windowOf(part(4_901, 4_951), part(4_951, 5_001)))).toEqual([4_901, 5_000, 4_901, null])
  })

  test('a reading window knows which lines it covers', () => {
    const middle = windowOf(part(51, 101))
    expect([50, 51, 100, 101].map((line) => windowHasLine(middle, line))).toEqual([false, true, true, false])
    expect([windowHasLine(windowOf(part(4_951, 5_001)), 999_999_999), windowHasLine(windowOf(part(1, 11)), 1)]).toEqual(
      [true, true],
    )
  })

  test('entries of one line are never divided when a window is cut', () => {
    const entries = part(1, 2 + WINDOW_LIMIT / 2).entries.slice(1)
    const window = appendLines({ ...windowOf(part(1, 2)), entries: [] }, { ...part(1, 2), entries, next_line: null })
    expect(window.entries.length).toBeLessThanOrEqual(WINDOW_LIMIT)
    expect(window.entries[0]).toMatchObject({ line: 2, text: 'a' })
  })

  test('the full text of a line replaces the text that the server cut', () => {
    const whole = part(7, 8).entries.map((entry) => ({ ...entry, text: `${entry.text} and more`, cut: false }))
    const window = withFullLine(windowOf(part(6, 9)), whole)
    expect(window.entries.map(({ text }) => text)).toEqual(['a', 'b', 'a and more', 'b and more', 'a', 'b'])
  })
})
