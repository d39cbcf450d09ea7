import { describe, expect, it } from 'vitest'
import type { Position } from '../contract/level.js'
import { comparePositions, parsePosition } from './position.js'

const at = (written: unknown): Position | string => {
  const parsed = parsePosition(written)
  return parsed.ok ? parsed.at : parsed.reason
}

describe('parsePosition', () => {
  it.each<[string | number, Position]>([
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
  ])('reads %j', (written, position) => {
    expect(at(written)).toEqual(position)
  })

  it('keeps the rule as it was written', () => {
    expect(parsePosition('  70% of Window ')).toMatchObject({ rule: '70% of Window' })
    expect(parsePosition(150_000)).toMatchObject({ rule: '150000' })
  })

  it.each<[unknown, string, string]>([
    [0, '`0` must be above 0', 'write `70%`, `70% of window`, `150k` or `20k before compaction`'],
    ['0', '`0` must be above 0', 'write `70%`'],
    ['0%', '`0%` must be above 0', 'from above 0 to 100'],
    ['0k', '`0k` must be above 0', '`70%`'],
    ['-5%', '`-5%` must be above 0', 'from above 0 to 100'],
    [-5, '`-5` must be above 0', '`70%`'],
    ['-20k before compaction', '`-20k before compaction` must be above 0', '`70%`'],
    ['101%', '`101%` lies beyond 100%', 'from above 0 to 100'],
    ['100.01% of window', 'lies beyond 100%', 'from above 0 to 100'],
    [70, '`70` has no unit', 'write `70%` or `70k`'],
    ['70', '`70` has no unit', 'write `70%` or `70k`'],
    [0.7, '`0.7` has no unit', 'write `70%`'],
    [150, '`150` has no unit', 'write `150k`'],
    ['20 before compaction', 'has no unit', 'write `20k before compaction`'],
    ['20% before compaction', 'counts from the end', 'write `80%`'],
    ['20% remaining', 'counts from the end', 'write `80%`'],
    ['20% left', 'counts from the end', 'write `80%`'],
    ['70% of budget', '`of budget` is nothing a percentage can be of', 'write `70%` or `70% of window`'],
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
  ])('refuses %j', (written, reason, hint) => {
    const parsed = parsePosition(written)
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(reason), hint: expect.stringContaining(hint) })
  })
})

describe('comparePositions', () => {
  const compare = (a: string, b: string) => comparePositions(at(a) as Position, at(b) as Position)

  it('orders positions of one kind', () => {
    expect(compare('50%', '70%')).toBeLessThan(0)
    expect(compare('70% of window', '50% of window')).toBeGreaterThan(0)
    expect(compare('100k', '150k')).toBeLessThan(0)
    expect(compare('20k before compaction', '10k before compaction')).toBeLessThan(0)
    expect(compare('150k', '150000')).toBe(0)
  })

  it.each([
    ['50%', '70% of window'],
    ['50%', '150k'],
    ['150k', '20k before compaction'],
    ['50% of window', '150k'],
  ])('leaves %s and %s to the session', (a, b) => {
    expect(compare(a, b)).toBeNull()
    expect(compare(b, a)).toBeNull()
  })
})
