import { describe, expect, test } from 'vitest'
import { grouped, percentText, short } from './numbers.js'
import { percentOf, remainingPercent } from './percent.js'
import { isSilent } from './silence.js'

describe('percentages', () => {
  test('have one decimal and are unknown where a figure is', () => {
    expect(percentOf(125_008, 200_000)).toBe(62.5)
    expect(percentOf(118_600, 167_000)).toBe(71)
    expect(percentOf(0, 200_000)).toBe(0)
    expect(percentOf(null, 200_000)).toBeNull()
    expect(percentOf(1, null)).toBeNull()
    expect(percentOf(1, 0)).toBeNull()
    expect(percentOf(1, -5)).toBeNull()
  })

  test('are never negative; only what is used may pass 100', () => {
    expect(percentOf(-5, 100)).toBe(0)
    expect(percentOf(230, 200)).toBe(115)
    expect(remainingPercent(230, 200)).toBe(0)
    expect(remainingPercent(null, 200)).toBeNull()
  })

  test('used and remaining add up to 100', () => {
    for (let used = 0; used <= 1670; used++) {
      expect(percentOf(used, 1670)! + remainingPercent(used, 1670)!).toBeCloseTo(100, 9)
    }
  })

  test('are written whole where they are whole', () => {
    expect([71, 62.5, 0, 100, 99.9].map(percentText)).toEqual(['71%', '62.5%', '0%', '100%', '99.9%'])
  })
})

describe('tokens', () => {
  test('are grouped the same on every machine', () => {
    expect([0, 999, 1000, 118_600, 1_000_000, 12_345.6].map(grouped)).toEqual([
      '0',
      '999',
      '1,000',
      '118,600',
      '1,000,000',
      '12,346',
    ])
  })

  test('are short in the status line', () => {
    expect([0, 999, 1000, 1499, 118_600, 167_000, 999_499, 999_500, 1_000_000, 1_250_000].map(short)).toEqual([
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

  test('is twenty tool calls or ten minutes of work without a reading', () => {
    expect([silent(19, 9.9), silent(20, 0), silent(1, 10)]).toEqual([false, true, true])
  })

  test('is not a session in which nothing happens, nor one that was told of already', () => {
    expect([silent(0, 600), silent(50, 600, true)]).toEqual([false, false])
  })
})
