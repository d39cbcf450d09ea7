import { describe, expect, it } from 'vitest'
import { folded, lineDiff } from './line-diff.js'

const shown = (before: string, after: string): string[] =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', gone: '-', new: '+' }[kind]}${text}`)

describe('the difference between two texts', () => {
  it('tells what went and what came, in its place', () => {
    expect(shown('a\nb\nc\nd', 'a\nc\nx\nd')).toEqual([' a', '-b', ' c', '+x', ' d'])
  })

  it('is all new without a text before, all gone without one after, and empty between equal ones', () => {
    expect(shown('', 'a\nb')).toEqual(['+a', '+b'])
    expect(shown('a\nb', '')).toEqual(['-a', '-b'])
    expect(shown('a\n', 'a')).toEqual([' a'])
    expect(shown('', '')).toEqual([])
  })

  it('counts the lines of both', () => {
    expect(lineDiff('a\nb', 'b\nc').map(({ before, after }) => [before, after])).toEqual([
      [1, null],
      [2, 1],
      [null, 2],
    ])
  })

  it('gives back both texts whatever they are, with as few changed lines as can be', () => {
    let seed = 7
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    for (let round = 0; round < 100; round++) {
      const some = (): string[] => Array.from({ length: next(9) }, () => 'abc'[next(3)]!)
      const [old, fresh] = [some(), some()]
      const lines = lineDiff(old.join('\n'), fresh.join('\n'))
      expect(lines.filter(({ kind }) => kind !== 'new').map(({ text }) => text)).toEqual(old)
      expect(lines.filter(({ kind }) => kind !== 'gone').map(({ text }) => text)).toEqual(fresh)
      expect(lines.filter(({ kind }) => kind === 'same')).toHaveLength(longestCommon(old, fresh))
    }
  })

  it('of long texts that have next to nothing in common is not looked for any longer: one takes the place of the other', () => {
    const text = (word: string): string => Array.from({ length: 12_000 }, (_, at) => `${word} ${at}`).join('\n')
    const lines = lineDiff(`first\n${text('old')}`, `first\n${text('new')}`)
    expect([lines[0]?.kind, lines[1]?.kind, lines[12_000]?.kind, lines[12_001]?.kind]).toEqual(['same', 'gone', 'gone', 'new'])
    expect(lines).toHaveLength(24_001)
  })
})

describe('unchanged lines', () => {
  it('are folded away but for those near a change', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`)
    const after = before.with(15, 'other')
    const parts = folded(lineDiff(before.join('\n'), after.join('\n')))
    expect(parts.map(({ folded, lines }) => [folded, lines.length])).toEqual([
      [true, 12],
      [false, 8],
      [true, 11],
    ])
  })

  it('are not folded one by one', () => {
    expect(folded(lineDiff('a\nb\nc\nd\ne', 'a\nb\nc\nd\nx'))).toMatchObject([{ folded: false }, { folded: false }])
  })
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!)
  return table[a.length]![b.length]!
}
