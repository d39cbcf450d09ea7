import { expect, test } from 'vitest'
import { parseDuration } from './value-kinds.js'

test.each([
  ['24h', 86_400_000],
  ['90m', 5_400_000],
  [' 1h 30M ', 5_400_000],
  ['1.5s', 1_500],
  ['2d', 172_800_000],
  ['250ms', 250],
])('%s is parsed as a duration', (text, ms) => expect(parseDuration(text)).toBe(ms))

test.each(['', '24', 'h', '24 hours', '-1h', '0h', '1e3s', '24h later', '99999999999999999d'])(
  '%j is refused as a duration',
  (text) => expect(parseDuration(text)).toBeNull(),
)
