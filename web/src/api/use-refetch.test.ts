import { expect, test } from 'vitest'
import { waitBeforeRefetch } from './use-refetch.js'

const waitAfterChange = (change: Partial<Parameters<typeof waitBeforeRefetch>[0]> = {}) =>
  waitBeforeRefetch({
    lastFetch: { at: 100_000, mark: 'a' },
    mark: 'b',
    now: 110_000,
    isVisible: true,
    cameIntoView: false,
    everyMs: 30_000,
    ...change,
  })

test('changed data is fetched every half minute at most, and at once when the page becomes visible', () => {
  expect([waitAfterChange(), waitAfterChange({ now: 130_000 }), waitAfterChange({ now: 900_000 })]).toEqual([
    20_000, 0, 0,
  ])
  expect(waitAfterChange({ cameIntoView: true })).toBe(0)
})

test('nothing is fetched while nothing has changed or the page is hidden', () => {
  expect([waitAfterChange({ mark: 'a' }), waitAfterChange({ mark: 'a', cameIntoView: true, now: 900_000 })]).toEqual([
    null,
    null,
  ])
  expect([
    waitAfterChange({ isVisible: false, now: 900_000 }),
    waitAfterChange({ isVisible: false, cameIntoView: true }),
  ]).toEqual([null, null])
})
