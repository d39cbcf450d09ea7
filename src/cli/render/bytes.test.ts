import { expect, test } from 'vitest'
import { bytesText } from './bytes.js'

test('sizes are told in two or three digits', () => {
  const told = [0, 999, 1000, 1499, 9_949, 9_950, 99_999, 999_499, 999_500, 20_000_000, 1_234_567_890, 5e15].map(bytesText)
  expect(told).toEqual([
    ...['0 B', '999 B', '1.0 kB', '1.5 kB', '9.9 kB', '10 kB', '100 kB', '999 kB', '1.0 MB', '20 MB', '1.2 GB', '5000 TB'],
  ])
})
