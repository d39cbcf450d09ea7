import { expect, test } from 'vitest'
import type { CheckResult } from '../../contract/records/job.js'
import { failedText } from './run-checks.js'

const result = (more: Partial<CheckResult> = {}): CheckResult => ({
  name: 'tests',
  command: 'npm test',
  round: 1,
  ok: false,
  exitCode: 1,
  timedOut: false,
  durationMs: 1_000,
  tail: '2 failed',
  outputPath: '/out/1.log',
  ...more,
})

test('the prompt about failed checks says which failed, how, and where the output is', () => {
  const [intro, failed, advice, ...more] = failedText([
    result(),
    result({ name: 'lint', ok: true, exitCode: 0 }),
  ]).split('\n\n')
  expect(intro).toMatch(/^\[baton\] .*\b1 of 2 checks\b/)
  expect(failed).toMatch(/^tests \(`npm test`\) exited with 1\. .*:\n```\n2 failed\n```\n.*: \/out\/1\.log$/)
  expect(advice).toMatch(/without changing the checks/)
  expect(more).toEqual([])
})

test('the prompt about failed checks is empty when all passed', () => {
  expect(failedText([])).toBe('')
  expect(failedText([result({ ok: true })])).toBe('')
})

test('the prompt about failed checks covers timeouts, kills, empty output and code fences', () => {
  expect(failedText([result({ exitCode: null, timedOut: true, durationMs: 600_400 })])).toContain(
    'did not end within 600 s',
  )
  expect(failedText([result({ exitCode: null })])).toContain('could not be run to the end')
  expect(failedText([result({ name: 'npm test', tail: ' ' })])).toContain(
    '`npm test` exited with 1. It printed nothing.',
  )
  expect(failedText([result({ tail: 'a\n```\nb\n```' })])).toContain('````\na\n```\nb\n```\n````')
})

test('the prompt about failed checks is limited in size, whatever failed and was printed', () => {
  const many = Array.from({ length: 300 }, () =>
    result({ tail: 'x'.repeat(8_000), command: 'y'.repeat(9_000), name: 'z'.repeat(9_000) }),
  )
  expect(failedText(many).length).toBeLessThan(25_000)
  expect(failedText(many)).toContain('And 280 more.')
  expect(failedText([result({ tail: `${'x'.repeat(8_000)}end` })])).toMatch(/…x{3997}end\n```/)
})
