import { describe, expect, test } from 'vitest'
import { parseAge, parseLimit, parseSince, parseSize } from './parse-values.js'

const NOW = new Date('2026-03-31T12:00:00.000Z')

describe('limits on a command line', () => {
  test('an age is given in hours, days or weeks, or as a date', () => {
    expect(parseAge('12h', NOW)).toBe('2026-03-31T00:00:00.000Z')
    expect(parseAge('30d', NOW)).toBe('2026-03-01T12:00:00.000Z')
    expect(parseAge('2W', NOW)).toBe('2026-03-17T12:00:00.000Z')
    expect(parseAge('2026-01-31', NOW)).toBe('2026-01-31T00:00:00.000Z')
    for (const wrong of ['', '30', 'd', '-3d', '3y', '2026-13-01', 'soon'])
      expect(() => parseAge(wrong, NOW)).toThrow('--older-than')
  })

  test('a size is given in multiples of bytes, and a number without a unit is refused', () => {
    expect([parseSize('0'), parseSize('1500b'), parseSize('10GB'), parseSize('1.5 mb'), parseSize('2GiB')]).toEqual([
      0,
      1500,
      10_000_000_000,
      1_500_000,
      2 * 2 ** 30,
    ])
    for (const wrong of ['', 'GB', '-1', '10XB', '1e3', '10']) expect(() => parseSize(wrong)).toThrow('--max-size')
  })

  test('a limit is a whole number from 1 to 1000', () => {
    expect([parseLimit(null, 20), parseLimit('7', 20)]).toEqual([20, 7])
    for (const wrong of ['0', '-1', '1.5', 'all', '1001']) expect(() => parseLimit(wrong, 20)).toThrow('--limit')
  })
})

const now = new Date('2026-03-01T12:00:00.000Z')

test('--since takes an event id, a time span or a date', () => {
  expect(parseSince('1234', now)).toEqual({ afterId: 1234 })
  expect(parseSince('90m', now)).toEqual({ since: '2026-03-01T10:30:00.000Z' })
  expect(parseSince('2d', now)).toEqual({ since: '2026-02-27T12:00:00.000Z' })
  expect(parseSince('2026-03-01T13:00:00+02:00', now)).toEqual({ since: '2026-03-01T11:00:00.000Z' })
  expect(parseSince('2026-03-01', now)).toEqual({ since: '2026-03-01T00:00:00.000Z' })
})

test('an ambiguous value of --since is refused', () => {
  for (const written of ['yesterday', '10x', '-5m', '2026-13-40', 'Tue', '']) {
    expect(() => parseSince(written, now)).toThrow(/--since cannot be/)
  }
})
