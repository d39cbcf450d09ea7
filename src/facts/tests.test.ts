import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { ran } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

const FAILED = { exitCode: 1, ok: false }
const RED =
  'FAILED tests/test_a.py::test_x - KeyError\nFAILED tests/test_b.py::test_y - KeyError\n' +
  '=== 2 failed, 3 passed in 0.1s ==='
const HALF = 'FAILED tests/test_b.py::test_y - KeyError\n=== 1 failed, 4 passed in 0.1s ==='
const GREEN = '=== 5 passed in 0.1s ==='

function testStates(...entries: Entry[]): Record<string, string | null> {
  const facts = startFacts()
  for (const entry of entries) facts.add(entry)
  return Object.fromEntries(
    facts
      .facts()
      .filter(({ kind }) => kind === 'test')
      .map(({ text, state }) => [text, state]),
  )
}

test('a failed run is a fact, and so is each test that it names as failed', () => {
  expect(testStates(...ran('pytest', RED, FAILED))).toEqual({
    pytest: 'failed',
    'tests/test_a.py::test_x': 'failed',
    'tests/test_b.py::test_y': 'failed',
  })
})

test('a failed test that no longer fails has passed', () => {
  expect(testStates(...ran('pytest', RED, FAILED), ...ran('pytest', HALF, FAILED))).toMatchObject({
    pytest: 'failed',
    'tests/test_a.py::test_x': 'passed',
    'tests/test_b.py::test_y': 'failed',
  })
  expect(Object.values(testStates(...ran('pytest', RED, FAILED), ...ran('pytest', GREEN)))).toEqual([
    'passed',
    'passed',
    'passed',
  ])
})

test('a run of some tests changes the state of those tests only', () => {
  expect(testStates(...ran('pytest', RED, FAILED), ...ran('pytest tests/test_a.py', GREEN))).toEqual({
    pytest: 'failed',
    'pytest tests/test_a.py': 'passed',
    'tests/test_a.py::test_x': 'passed',
    'tests/test_b.py::test_y': 'failed',
  })
})

test('the exit status counts when the output is silent, and the output when a pipe hides the status', () => {
  expect(testStates(...ran('make test', 'make: *** [test] Error 1', FAILED))).toEqual({ 'make test': 'failed' })
  expect(testStates(...ran('make test', ''))).toEqual({ 'make test': 'passed' })
  expect(testStates(...ran('pytest | tail -3', HALF))).toMatchObject({ 'pytest | tail -3': 'failed' })
})

test('a successful quiet run marks earlier failures as passed', () => {
  expect(testStates(...ran('pytest', RED, FAILED), ...ran('pytest', ''))).toMatchObject({
    'tests/test_a.py::test_x': 'passed',
  })
})

test('a refused test command, or test output of another command, is no run', () => {
  expect(testStates(...ran('pytest', RED, { ok: false, refused: true }))).toEqual({})
  expect(testStates(...ran('cat ci.log', RED))).toEqual({})
})

test('a failed run is overcome when the same check passes in another command line', () => {
  const facts = startFacts()
  const failed = ran('mise run test 2>&1 | tail -5', '[test] ERROR task failed', { line: 3 })
  const again = ran('mise run test', '', { ...FAILED, line: 6 })
  const details = (): unknown[] =>
    facts
      .facts()
      .filter(({ kind }) => kind === 'test')
      .map(({ state, detail }) => [state, detail.since, detail.overcome])
  for (const entry of [...failed, ...again]) facts.add(entry)
  expect(details()).toEqual([
    ['failed', 3, undefined],
    ['failed', 3, undefined],
  ])
  for (const entry of ran('cd . && mise run test', '', { line: 9 })) facts.add(entry)
  expect(details()).toEqual([
    ['failed', undefined, true],
    ['failed', undefined, true],
    ['passed', undefined, undefined],
  ])
})
