import { expect, test } from 'vitest'
import { makeTimedCache } from './timed-cache.js'

test('a cached answer is used until it expires', () => {
  let now = 0
  let asked = 0
  const remember = makeTimedCache<number>(1000, 10, () => now)
  const ask = () => remember('one', () => ++asked)
  expect([ask(), ask()]).toEqual([1, 1])
  now = 999
  expect(ask()).toBe(1)
  now = 1000
  expect([ask(), ask()]).toEqual([2, 2])
})

test('an answer of null is cached too', () => {
  let asked = 0
  const remember = makeTimedCache<null>(1000, 10, () => 0)
  const ask = () => {
    asked++
    return null
  }
  for (let n = 0; n < 3; n++) remember('one', ask)
  expect(asked).toBe(1)
})

test('a full cache drops the oldest answer', () => {
  const asked: string[] = []
  const remember = makeTimedCache<string>(1000, 2, () => 0)
  const ask = (key: string) =>
    remember(key, () => {
      asked.push(key)
      return key
    })
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) ask(key)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})

test('a failed question is not cached', () => {
  const remember = makeTimedCache<number>(1000, 2, () => 0)
  const failing = () => {
    throw new Error('no')
  }
  expect(() => remember('a', failing)).toThrow('no')
  expect(remember('a', () => 7)).toBe(7)
})
