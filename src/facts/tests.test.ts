import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { ran } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

const FAILED = { exitCode: 1, ok: false }
const RED =
  'FAILED tests/test_a.py::test_x - KeyError\nFAILED tests/test_b.py::test_y - KeyError\n=== 2 failed, 3 passed in 0.1s ==='
const HALF = 'FAILED tests/test_b.py::test_y - KeyError\n=== 1 failed, 4 passed in 0.1s ==='
const GREEN = '=== 5 passed in 0.1s ==='

function tests(...entries: Entry[]): Record<string, string | null> {
  const facts = startFacts()
  for (const entry of entries) facts.take(entry)
  return Object.fromEntries(
    facts
      .facts()
      .filter(({ kind }) => kind === 'test')
      .map(({ text, state }) => [text, state]),
  )
}

test('a run and the tests it named as failed', () => {
  expect(tests(...ran('pytest', RED, FAILED))).toEqual({
    pytest: 'failed',
    'tests/test_a.py::test_x': 'failed',
    'tests/test_b.py::test_y': 'failed',
  })
})

test('what no longer fails passes', () => {
  expect(tests(...ran('pytest', RED, FAILED), ...ran('pytest', HALF, FAILED))).toMatchObject({
    pytest: 'failed',
    'tests/test_a.py::test_x': 'passed',
    'tests/test_b.py::test_y': 'failed',
  })
  expect(Object.values(tests(...ran('pytest', RED, FAILED), ...ran('pytest', GREEN)))).toEqual([
    'passed',
    'passed',
    'passed',
  ])
})

test('a run of some tests settles only those', () => {
  expect(tests(...ran('pytest', RED, FAILED), ...ran('pytest tests/test_a.py', GREEN))).toEqual({
    pytest: 'failed',
    'pytest tests/test_a.py': 'passed',
    'tests/test_a.py::test_x': 'passed',
    'tests/test_b.py::test_y': 'failed',
  })
})

test('the exit status counts where the output says nothing, and the output where a pipe hides the status', () => {
  expect(tests(...ran('make test', 'make: *** [test] Error 1', FAILED))).toEqual({ 'make test': 'failed' })
  expect(tests(...ran('make test', ''))).toEqual({ 'make test': 'passed' })
  expect(tests(...ran('pytest | tail -3', HALF))).toMatchObject({ 'pytest | tail -3': 'failed' })
})

test('a quiet run that worked settles what failed before', () => {
  expect(tests(...ran('pytest', RED, FAILED), ...ran('pytest', ''))).toMatchObject({
    'tests/test_a.py::test_x': 'passed',
  })
})

test('what was refused or printed by another command is no run', () => {
  expect(tests(...ran('pytest', RED, { ok: false, refused: true }))).toEqual({})
  expect(tests(...ran('cat ci.log', RED))).toEqual({})
})
