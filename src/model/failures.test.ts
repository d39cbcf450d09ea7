import { expect, test } from 'vitest'
import { Failures } from './model.js'

test('scripted failures come in order, each as often as its count says, and then the answer', () => {
  const failures = new Failures()
  const fails = [{ kind: 429, times: 2 }, { kind: 'drop' as const }]
  const given = Array.from({ length: 5 }, () => failures.next('a', fails)?.kind ?? 'answer')
  expect(given).toEqual([429, 429, 'drop', 'answer', 'answer'])
})

test('failures are counted separately for each conversation', () => {
  const failures = new Failures()
  expect(failures.next('a', [{ kind: 500 }])?.kind).toBe(500)
  expect(failures.next('b', [{ kind: 500 }])?.kind).toBe(500)
  expect(failures.next('a', [{ kind: 500 }])).toBeNull()
})

test('a prompt that is too long fails on every attempt', () => {
  const failures = new Failures()
  for (let i = 0; i < 3; i++) expect(failures.next('a', [{ kind: 'too-long' }])?.kind).toBe('too-long')
})

test('the failure counter is bounded and drops its oldest count first', () => {
  const failures = new Failures()
  failures.next('first', [{ kind: 500 }])
  for (let i = 0; i < 10_000; i++) failures.next(`k${i}`, [{ kind: 500 }])
  expect(failures.next('first', [{ kind: 500 }])?.kind).toBe(500)
  expect(failures.next('k9999', [{ kind: 500 }])).toBeNull()
})
