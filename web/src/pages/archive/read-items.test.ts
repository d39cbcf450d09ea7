import { describe, expect, it } from 'vitest'
import { aboutCall, aboutResult, foldText, itemAt, type Line, readItems } from './read-items.js'

const line = (change: Partial<Line>): Line => ({
  ...{ line: 1, at: null, role: 'agent' as const, tool: null, call_id: null, ok: null, text: '', cut: false },
  ...change,
})
const call = (at: number, id: string, text = 'npm test') => line({ line: at, role: 'call', tool: 'Bash', call_id: id, text })
const result = (at: number, id: string, text = 'done', ok: boolean | null = true) =>
  line({ line: at, role: 'result', call_id: id, text, ok })

describe('a transcript as it is read', () => {
  it('a call and what came back are one thing, where the call stands', () => {
    const items = readItems([call(3, 'a'), call(3, 'b'), line({ line: 4, text: 'x' }), result(5, 'b'), result(6, 'a')])
    expect(items.map(({ key, kind, result: back }) => [key, kind, back?.line ?? null])).toEqual([
      ['3-0', 'tool', 6],
      ['3-1', 'tool', 5],
      ['4-0', 'said', null],
    ])
    expect([6, 5, 4, 2, 99].map((at) => itemAt(items, at)?.key)).toEqual(['3-0', '3-1', '4-0', '3-0', '4-0'])
    expect(itemAt([], 1)).toBeUndefined()
  })

  it('a result whose call is not here stands alone, and one that came twice is not lost', () => {
    expect(readItems([result(5, 'gone'), call(6, 'a'), result(7, 'a'), result(8, 'a')]).map(({ key }) => key)).toEqual([
      '5-0',
      '6-0',
      '8-0',
    ])
  })

  it('what a call was about fits in a line, without the name of the tool', () => {
    expect(aboutCall(call(1, 'a', '\n  ls -la\nrm x'))).toBe('ls -la')
    expect(aboutCall(line({ role: 'call', tool: 'Read', text: 'Read src/a.ts' }))).toBe('src/a.ts')
    expect(aboutResult(result(2, 'a', 'a\nb\nc'))).toBe('3 lines')
    expect(aboutResult(result(2, 'a', 'no such file', false))).toBe('failed, no such file')
    expect(aboutResult(null)).toBe('')
  })

  it('a long text shows its beginning and how much is left; a few lines more are not worth a fold', () => {
    expect(foldText('a\nb')).toEqual({ shown: 'a\nb', hidden: 0 })
    expect(foldText('x\n'.repeat(25)).hidden).toBe(0)
    const { shown, hidden } = foldText('x\n'.repeat(100))
    expect([shown.split('\n').length, hidden]).toEqual([24, 77])
    expect(foldText('y'.repeat(10_000))).toEqual({ shown: 'y'.repeat(2_400), hidden: 1 })
  })
})
