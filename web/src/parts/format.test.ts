import { describe, expect, test } from 'vitest'
import {
  bytesText,
  durationText,
  exactTimeText,
  moneyText,
  percentText,
  relativeText,
  tokensText,
  toSentence,
} from './format.js'

describe('texts of numbers', () => {
  test('token counts are short and never round up into a wrong unit', () => {
    const figures = [0, 950, 1_000, 8_420, 9_960, 166_600, 167_000, 999_400, 999_600, 1_240_000, 12_000_000]
    expect(figures.map(tokensText)).toEqual([
      '0',
      '950',
      '1k',
      '8.4k',
      '10k',
      '167k',
      '167k',
      '999k',
      '1M',
      '1.2M',
      '12M',
    ])
  })

  test('an unknown number is shown as a dash and never as zero', () => {
    expect([tokensText(null), moneyText(null), percentText(undefined), bytesText(null), durationText(null)]).toEqual(
      Array(5).fill('–'),
    )
  })

  test('a percentage is not rounded to 0 or 100 before it is reached', () => {
    expect([0, 0.2, 71.4, 99.6, 99.97, 100, 104].map(percentText)).toEqual([
      '0%',
      '0.2%',
      '71%',
      '99.6%',
      '99.9%',
      '100%',
      '104%',
    ])
  })

  test('amounts of money below a thousand have cents', () => {
    expect([0, 0.001, 0.42, 12.3, 1_240.4].map(moneyText)).toEqual(['$0.00', '< $0.01', '$0.42', '$12.30', '$1,240'])
  })

  test('sizes and durations are shown in their largest fitting unit', () => {
    expect([12, 1_400, 2_500_000].map(bytesText)).toEqual(['12 B', '1.4 kB', '2.5 MB'])
    expect([-2_076, 0].map(durationText)).toEqual(['0 s', '0 s'])
    expect([850, 12_400, 180_000, 4_800_000, 187_200_000].map(durationText)).toEqual([
      '850 ms',
      '12 s',
      '3 min',
      '1 h 20 min',
      '2 d 4 h',
    ])
  })
})

describe('texts of times', () => {
  const now = Date.parse('2026-11-16T12:00:00.000Z')
  const ago = (ms: number) => relativeText(new Date(now - ms).toISOString(), now)

  test('relative times change in coarse steps and do not flicker', () => {
    expect([1_000, 8_000, 47_000, 61_000, 3_599_000, 3_600_000, 172_800_000].map(ago)).toEqual([
      'now',
      '5 s ago',
      '40 s ago',
      '1 min ago',
      '59 min ago',
      '1 h ago',
      '2 d ago',
    ])
    expect(ago(-180_000)).toBe('in 3 min')
  })

  test('an exact time names its UTC offset', () => {
    expect(exactTimeText('2026-11-16T12:00:00.000Z')).toMatch(/^2026-11-1\d \d\d:00:00 \(UTC[+−]\d\d:\d\d\)$/)
  })
})

test('a reason from the server becomes a sentence with one full stop', () => {
  expect(['the transcript does not exist', 'It has ended.', ' why? '].map(toSentence)).toEqual([
    'The transcript does not exist.',
    'It has ended.',
    'Why?',
  ])
})
