import { describe, expect, test } from 'vitest'
import { checkOutcome, commandOutcome, testRunOf } from './check-outcome.js'
import { VERDICTS } from './check-verdicts.js'

const outcome = (command: string, output: string, exitCode: number | null = 0): string =>
  checkOutcome(command, { output, exitCode, ok: exitCode === null ? null : exitCode === 0 }, testRunOf(command, output))

describe('the outcome of a check', () => {
  test.each([
    ['make lint', '', 0, 'passed'],
    ['make lint', '', 2, 'failed'],
    ['cd api && npm run lint && npm test', '', 0, 'passed'],
    ['cd api && npm run lint && npm test', '', 1, 'failed'],
    ['go build ./... && ./app | head -3', 'hello', 0, 'passed'],
    ['set -o pipefail; make lint | tail -3', 'done', 0, 'passed'],
    ['set -o pipefail; make lint | tail -3', 'done', 2, 'failed'],
  ])('%s with output %j and status %d: the exit status counts: %s', (command, output, exitCode, expected) => {
    expect(outcome(command, output, exitCode)).toBe(expected)
  })

  test.each([
    ['make test 2>&1 | tail -5', 'make: *** [test] Error 1', 'failed'],
    ['make test 2>&1 | tail -5', 'building …', 'unknown'],
    ['make test || true', 'nothing', 'unknown'],
    ['make test; ls', 'a b', 'unknown'],
    ['if make test; then ls; fi', 'a b', 'unknown'],
    ['make lint | grep error', '', 'unknown'],
    ['npx vitest run | tail -4', '      Tests  10 passed (10)', 'passed'],
    ['npx vitest run | grep Tests', '      Tests  10 passed (10)', 'passed'],
    ['npx vitest run | grep Tests', '      Tests  1 failed | 9 passed (10)', 'failed'],
    ['go test ./... | grep ok', 'ok  \texample.org/a\t0.1s', 'unknown'],
    ['go test ./... | tail -2', 'ok  \texample.org/a\t0.1s', 'passed'],
    ['go test ./... | tail -2', 'ok  \texample.org/a\t0.1s\nFAIL', 'failed'],
    ['go test ./... | head -2', 'ok  \texample.org/a\t0.1s\nok  \texample.org/b\t0.1s', 'unknown'],
    ['go test ./... | head -50', 'ok  \texample.org/a\t0.1s', 'passed'],
    ['npx tsc --noEmit 2>&1 | head -20', '', 'passed'],
    ['npx tsc --noEmit 2>&1 | grep src/a', '', 'unknown'],
    ['pytest | tail -3', 'Traceback (most recent call last):\n=== 5 passed in 0.1s ===', 'passed'],
    ['python -m mypy . > log; tail -1 log', 'Found 2 errors in 1 file (checked 4 source files)', 'failed'],
  ])('%s hides its exit status, so that the output %j decides: %s', (command, output, expected) => {
    expect(outcome(command, output)).toBe(expected)
  })

  test('a failing filter says nothing about the check before it', () => {
    expect(outcome('make lint | grep -i error', '', 1)).toBe('unknown')
    expect(outcome('npm test | grep -c fail', '0', 1)).toBe('unknown')
  })

  test('an exit status or a mark that the command prints counts', () => {
    expect(outcome('make test; echo "exit: $?"', 'ran\nexit: 2')).toBe('failed')
    expect(outcome('make test; echo "exit: $?"', 'ran\nexit: 0')).toBe('passed')
    expect(outcome(`make test | tail -3; echo \${PIPESTATUS[0]}`, 'ran\n1')).toBe('failed')
    expect(outcome('make test && echo FINE || echo BROKEN', 'BROKEN')).toBe('failed')
    expect(outcome('make test && echo FINE || echo BROKEN', 'FINE')).toBe('passed')
  })

  test('a check that timed out has not failed', () => {
    expect(checkOutcome('make test', { output: 'Command timed out after 2m', exitCode: null, ok: false }, null)).toBe(
      'unknown',
    )
  })
})

test('a command whose status a filter hides is unknown unless its output shows a failure', () => {
  const end = (output: string) => ({ output, exitCode: 0, ok: true })
  expect(commandOutcome('git push 2>&1 | tail -3', end('main -> main'))).toBe('unknown')
  expect(commandOutcome('git commit -m x; echo "exit: $?"', end('lint....Failed\nexit: 1'))).toBe('failed')
  expect(commandOutcome('git log | head -3', end('a'))).toBe('passed')
})

test('a command line of hundreds of programs is not judged, because that takes seconds', () => {
  const end = { output: '', exitCode: 0, ok: true }
  expect(checkOutcome('make lint && '.repeat(200), end, null)).toBe('unknown')
  expect(commandOutcome('git push && '.repeat(200), end)).toBe('unknown')
  expect(commandOutcome('git push && '.repeat(50), end)).toBe('passed')
})

const cases = VERDICTS.flatMap((verdict) => [
  ...(verdict.passedExamples ?? []).map((text) => [verdict.program, text, 'passed'] as const),
  ...(verdict.failedExamples ?? []).map((text) => [verdict.program, text, 'failed'] as const),
  ...(verdict.counterexamples ?? []).map((text) => [verdict.program, text, null] as const),
])

test.each(cases)('%s: the line %j says %s', (program, text, expected) => {
  const { passed, failed } = VERDICTS.find((one) => one.program === program)!
  expect(failed?.test(text) ?? false).toBe(expected === 'failed')
  if (expected !== 'failed') expect(passed?.test(text) ?? false).toBe(expected === 'passed')
})
