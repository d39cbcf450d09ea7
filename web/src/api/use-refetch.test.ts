import { expect, test } from 'vitest'
import { waitBeforeAsking } from './use-refetch.js'

const look = (change: Partial<Parameters<typeof waitBeforeAsking>[0]> = {}) =>
  waitBeforeAsking({
    asked: { at: 100_000, mark: 'a' },
    mark: 'b',
    now: 110_000,
    isVisible: true,
    cameIntoView: false,
    everyMs: 30_000,
    ...change,
  })

test('what has changed is asked for every half minute at most, and at once by who comes to look', () => {
  expect([look(), look({ now: 130_000 }), look({ now: 900_000 })]).toEqual([20_000, 0, 0])
  expect(look({ cameIntoView: true })).toBe(0)
})

test('nothing is asked while nothing has changed, or nobody looks', () => {
  expect([look({ mark: 'a' }), look({ mark: 'a', cameIntoView: true, now: 900_000 })]).toEqual([null, null])
  expect([look({ isVisible: false, now: 900_000 }), look({ isVisible: false, cameIntoView: true })]).toEqual([
    null,
    null,
  ])
})
