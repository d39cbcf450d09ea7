import { describe, expect, test } from 'vitest'
import type { Position } from '../contract/level.js'
import { comparePositions, parsePosition } from './position.js'

const at = (written: unknown): Position | string => {
  const parsed = parsePosition(written)
  return parsed.ok ? parsed.at : parsed.reason
}

describe('parsePosition', () => {
  test.each<[string | number, Position]>([
    ['70%', { of: 'compaction', percent: 70 }],
    ['70 %', { of: 'compaction', percent: 70 }],
    [' 70% ', { of: 'compaction', percent: 70 }],
    ['62.5%', { of: 'compaction', percent: 62.5 }],
    ['100%', { of: 'compaction', percent: 100 }],
    ['.5%', { of: 'compaction', percent: 0.5 }],
    ['70 percent', { of: 'compaction', percent: 70 }],
    ['70% of compaction', { of: 'compaction', percent: 70 }],
    ['70% of the compaction point', { of: 'compaction', percent: 70 }],
    ['70% of window', { of: 'window', percent: 70 }],
    ['70%  of  the  window', { of: 'window', percent: 70 }],
    ['70% OF WINDOW', { of: 'window', percent: 70 }],
    ['70% of the context window', { of: 'window', percent: 70 }],
    ['150k', { of: 'tokens', tokens: 150_000 }],
    ['150K', { of: 'tokens', tokens: 150_000 }],
    ['150 k', { of: 'tokens', tokens: 150_000 }],
    ['150k tokens', { of: 'tokens', tokens: 150_000 }],
    ['1.5k', { of: 'tokens', tokens: 1_500 }],
    ['4.35k', { of: 'tokens', tokens: 4_350 }],
    ['0.5M', { of: 'tokens', tokens: 500_000 }],
    ['150000', { of: 'tokens', tokens: 150_000 }],
    ['150_000', { of: 'tokens', tokens: 150_000 }],
    [150_000, { of: 'tokens', tokens: 150_000 }],
    [1_000, { of: 'tokens', tokens: 1_000 }],
    ['20k before compaction', { of: 'before-compaction', tokens: 20_000 }],
    ['20000 before compaction', { of: 'before-compaction', tokens: 20_000 }],
    ['20k tokens before the compaction point', { of: 'before-compaction', tokens: 20_000 }],
  ])('the position %j is parsed', (written, position) => {
    expect(at(written)).toEqual(position)
  })

  test('a parsed position keeps its rule as written', () => {
    expect(parsePosition('  70% of Window ')).toMatchObject({ rule: '70% of Window' })
    expect(parsePosition(150_000)).toMatchObject({ rule: '150000' })
  })

  test.each<[unknown, string, string]>([
    [
      0,
      '`0` must be above 0',
      'write `70%`, `70% of window`, `150k`, `20k before compaction` or two of them, such as `85% or 300k`',
    ],
    ['0', '`0` must be above 0', 'write `70%`'],
    ['0%', '`0%` must be above 0', 'above 0 and at most 100'],
    ['0k', '`0k` must be above 0', '`70%`'],
    ['-5%', '`-5%` must be above 0', 'above 0 and at most 100'],
    [-5, '`-5` must be above 0', '`70%`'],
    ['-20k before compaction', '`-20k before compaction` must be above 0', '`70%`'],
    ['101%', '`101%` is above 100%', 'above 0 and at most 100'],
    ['100.01% of window', 'is above 100%', 'above 0 and at most 100'],
    [70, '`70` has no unit', 'write `70%` or `70k`'],
    ['70', '`70` has no unit', 'write `70%` or `70k`'],
    [0.7, '`0.7` has no unit', 'write `70%`'],
    [150, '`150` has no unit', 'write `150k`'],
    ['20 before compaction', 'has no unit', 'write `20k before compaction`'],
    ['20% before compaction', 'counts what is left', 'write `80%`'],
    ['20% remaining', 'counts what is left', 'write `80%`'],
    ['20% left', 'counts what is left', 'write `80%`'],
    ['70% of budget', 'a percentage cannot refer to `of budget`', 'write `70%` or `70% of window`'],
    [1500.5, 'is not a whole number of tokens', '`150k`'],
    ['0.0001k', 'is not a whole number of tokens', '`150k`'],
    ['99999999999999999k', 'is not a whole number of tokens', '`150k`'],
    ['150,000', 'is not a position', '`150k`'],
    ['150k of window', 'is not a position', '`70% of window`'],
    ['1.2.3%', 'is not a position', '`70%`'],
    ['1.2.3k', 'is not a position', '`70%`'],
    ['.', 'is not a position', '`70%`'],
    ['seventy', '`seventy` is not a position', '`70%`'],
    ['', '`` is not a position', '`70%`'],
    ['%', 'is not a position', '`70%`'],
    [Number.NaN, 'is not a position', '`70%`'],
    [Number.POSITIVE_INFINITY, 'is not a position', '`70%`'],
    [true, 'expected a position', '`70%`'],
    [['70%'], 'expected a position', '`70%`'],
    [{}, 'expected a position', '`70%`'],
    [null, 'expected a position', '`70%`'],
  ])('the position %j is refused with a hint', (written, reason, hint) => {
    const parsed = parsePosition(written)
    expect(parsed).toMatchObject({
      ok: false,
      reason: expect.stringContaining(reason),
      hint: expect.stringContaining(hint),
    })
  })
})

describe('comparePositions', () => {
  const compare = (a: string, b: string) => comparePositions(at(a) as Position, at(b) as Position)

  test('positions of one kind are ordered', () => {
    expect(compare('50%', '70%')).toBeLessThan(0)
    expect(compare('70% of window', '50% of window')).toBeGreaterThan(0)
    expect(compare('100k', '150k')).toBeLessThan(0)
    expect(compare('20k before compaction', '10k before compaction')).toBeLessThan(0)
    expect(compare('150k', '150000')).toBe(0)
  })

  test.each([
    ['50%', '70% of window'],
    ['50%', '150k'],
    ['150k', '20k before compaction'],
    ['50% of window', '150k'],
  ])('the positions %s and %s can be compared only in a session', (a, b) => {
    expect(compare(a, b)).toBeNull()
    expect(compare(b, a)).toBeNull()
  })
})

test('a position longer than 64 characters is refused and quoted only in part', () => {
  const padded = (length: number) => `70%${' '.repeat(length - 12)}of window`
  expect(at(padded(64))).toEqual({ of: 'window', percent: 70 })
  expect(at(padded(65))).toMatch(/^`70% +…` is not a position$/)
  expect(at('50% or '.repeat(9_000))).toBe('`50% or 50% or 50% or 50% or 50% or 50% …` is not a position')
})

describe('two positions joined by or', () => {
  const PERCENT = { of: 'compaction', percent: 85 }
  const TOKENS = { of: 'tokens', tokens: 300_000 }

  test.each([
    ['85% or 300k', [PERCENT, TOKENS]],
    ['300k or 85%', [TOKENS, PERCENT]],
    ['85 %  OR  300_000 tokens', [PERCENT, TOKENS]],
    [
      '20k before compaction or 50% of window',
      [
        { of: 'before-compaction', tokens: 20_000 },
        { of: 'window', percent: 50 },
      ],
    ],
  ])('the position %s is the one that comes first', (written, positions) => {
    expect(parsePosition(written)).toEqual({ ok: true, rule: written, at: { of: 'first', positions } })
  })

  test.each([
    ['85% or soon', '`soon` is not a position', 'such as `85% or 300k`'],
    ['85% or 300', '`300` has no unit', '`300k`'],
    ['85% or 300k or 20k before compaction', 'has 3 positions', 'at most two'],
    ['100k or 150k', '`150k` has no effect, because `100k` always comes first', 'write `100k`'],
    ['85% or 85%', '`85%` has no effect, because `85%` always comes first', 'write `85%`'],
  ])('the joined position %s is refused with a hint', (written, reason, hint) => {
    const parsed = parsePosition(written)
    expect(parsed).toMatchObject({ ok: false })
    if (parsed.ok) return
    expect(parsed.reason).toContain(reason)
    expect(parsed.hint).toContain(hint)
  })

  const at = (written: string) => {
    const parsed = parsePosition(written)
    if (!parsed.ok) throw new Error(parsed.reason)
    return parsed.at
  }
  test.each([
    ['50% or 150k', '70% or 225k', -1],
    ['70% or 225k', '50% or 150k', 1],
    ['50% or 150k', '150k or 50%', 0],
    ['50% or 150k', '60%', -1],
    ['60%', '50% or 150k', 1],
    ['40%', '50% or 150k', null],
    ['50% or 300k', '70% or 225k', null],
  ])('comparing %s with %s without a session gives %s', (a, b, order) => {
    expect(comparePositions(at(a), at(b))).toBe(order)
  })
})
