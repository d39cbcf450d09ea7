import { describe, expect, test } from 'vitest'
import { formatTokens, percentText, shortenTokens } from './numbers.js'
import { percentOf, remainingPercent } from './percent.js'
import { isSilent } from './silence.js'

describe('percentages', () => {
  test('percentages have one decimal and are null when a number is unknown', () => {
    expect(percentOf(125_008, 200_000)).toBe(62.5)
    expect(percentOf(118_600, 167_000)).toBe(71)
    expect(percentOf(0, 200_000)).toBe(0)
    expect(percentOf(null, 200_000)).toBeNull()
    expect(percentOf(1, null)).toBeNull()
    expect(percentOf(1, 0)).toBeNull()
    expect(percentOf(1, -5)).toBeNull()
  })

  test('percentages are never negative, and only the used one may exceed 100', () => {
    expect(percentOf(-5, 100)).toBe(0)
    expect(percentOf(230, 200)).toBe(115)
    expect(remainingPercent(230, 200)).toBe(0)
    expect(remainingPercent(null, 200)).toBeNull()
  })

  test('used and remaining percentage add up to 100', () => {
    for (let used = 0; used <= 1670; used++) {
      expect(percentOf(used, 1670)! + remainingPercent(used, 1670)!).toBeCloseTo(100, 9)
    }
  })

  test('whole percentages are written without a decimal', () => {
    expect([71, 62.5, 0, 100, 99.9].map(percentText)).toEqual(['71%', '62.5%', '0%', '100%', '99.9%'])
  })
})

describe('tokens', () => {
  test('token counts are grouped the same on every machine', () => {
    expect([0, 999, 1000, 118_600, 1_000_000, 12_345.6].map(formatTokens)).toEqual([
      '0',
      '999',
      '1,000',
      '118,600',
      '1,000,000',
      '12,346',
    ])
  })

  test('token counts in the status line are shortened', () => {
    expect([0, 999, 1000, 1499, 118_600, 167_000, 999_499, 999_500, 1_000_000, 1_250_000].map(shortenTokens)).toEqual([
      '0',
      '999',
      '1k',
      '1k',
      '119k',
      '167k',
      '999k',
      '1M',
      '1M',
      '1.25M',
    ])
  })
})

describe('silence', () => {
  const since = '2026-03-01T10:00:00.000Z'
  const after = (minutes: number) => new Date(Date.parse(since) + minutes * 60_000)
  const silent = (toolCalls: number, minutes: number, alarmed = false) =>
    isSilent({ toolCalls, since, alarmed }, after(minutes))

  test('a session is silent after twenty tool calls or ten minutes of work without a reading', () => {
    expect([silent(19, 9.9), silent(20, 0), silent(1, 10)]).toEqual([false, true, true])
  })

  test('a session without activity, or one that was already reported, is not silent', () => {
    expect([silent(0, 600), silent(50, 600, true)]).toEqual([false, false])
  })
})
