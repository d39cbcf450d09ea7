import { expect, test } from 'vitest'
import { rememberFor } from './remember.js'

test('an answer is kept for a moment and then asked for again', () => {
  let now = 0
  let asked = 0
  const remember = rememberFor<number>(1000, 10, () => now)
  const ask = () => remember('one', () => ++asked)
  expect([ask(), ask()]).toEqual([1, 1])
  now = 999
  expect(ask()).toBe(1)
  now = 1000
  expect([ask(), ask()]).toEqual([2, 2])
})

test('nothing known is an answer too', () => {
  let asked = 0
  const remember = rememberFor<null>(1000, 10, () => 0)
  const ask = () => {
    asked++
    return null
  }
  for (let n = 0; n < 3; n++) remember('one', ask)
  expect(asked).toBe(1)
})

test('is bounded: the longest unasked goes first', () => {
  const asked: string[] = []
  const remember = rememberFor<string>(1000, 2, () => 0)
  const ask = (key: string) =>
    remember(key, () => {
      asked.push(key)
      return key
    })
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) ask(key)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})

test('a question that fails is asked again', () => {
  const remember = rememberFor<number>(1000, 2, () => 0)
  const failing = () => {
    throw new Error('no')
  }
  expect(() => remember('a', failing)).toThrow('no')
  expect(remember('a', () => 7)).toBe(7)
})
