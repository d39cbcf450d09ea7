import { expect, test } from 'vitest'
import { countdownText } from './brief-review.js'

test('the countdown of a review stops at zero', () => {
  expect([3_725_000, 725_000, 26_001, 900, 0, -5_000].map(countdownText)).toEqual([
    '1:02:05',
    '12:05',
    '0:27',
    '0:01',
    '0:00',
    '0:00',
  ])
})
