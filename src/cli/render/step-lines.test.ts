import { expect, test } from 'vitest'
import type { JobLogLine } from '../../contract/api/jobs.js'
import { readLogLine } from './job-log-lines.js'
import { StepLines } from './job-page.js'
import { plain } from './screen.js'

const call = (id: string, text: string): JobLogLine => ({ at: null, kind: 'call', text, ok: true, call_id: id })
const result = (id: string, text: string, ok = true): JobLogLine => ({
  at: null,
  kind: 'result',
  text,
  ok,
  call_id: id,
})
const screen = { paint: plain, columns: 60 }

test('a returned call is one line with mark, tool, relative path, and its duration from one second on', () => {
  const steps = new StepLines('/home/me/shop')
  expect(steps.take([call('a', 'Edit /home/me/shop/src/parser.ts'), call('b', 'Bash npm\n  test')], 0, screen)).toEqual(
    [],
  )
  expect(steps.running()).toBe('→ Bash npm test (and 1 more)')
  expect(steps.take([result('a', 'ok')], 900, screen)).toEqual(['✓ Edit src/parser.ts'])
  expect(steps.running()).toBe('→ Bash npm test')
  expect(steps.take([result('b', 'ok')], 12_400, screen)).toEqual(['✓ Bash npm test (12 s)'])
  expect(steps.running()).toBeNull()
})

test('a line that Baton wrote into the log is shown as it stands', () => {
  const steps = new StepLines('/home/me/shop')
  const said = { type: 'baton', at: '2026-03-01T12:00:00.000Z', event: 'brief', data: { coverage: 0.4, bar: 0.8 } }
  expect(steps.take(readLogLine(JSON.stringify(said), 'claude-code'), 0, { paint: plain, columns: 100 })).toEqual([
    'the brief covers 40%, less than 80%: the session is asked once more',
  ])
})

test('a failed call gives its reason in the same line, however long the call is', () => {
  const steps = new StepLines('/home/me/shop')
  steps.take([call('a', `Bash ${'x'.repeat(200)}`)], 0, screen)
  const [line] = steps.take([result('a', 'Exit code 1\nFAIL src/parser.test.ts', false)], 100, screen)
  expect(line).toMatch(/^✗ Bash x+…: Exit code 1 FAIL src\/pars/)
  expect(line!.length).toBeLessThanOrEqual(60)
})

test('output of an agent cannot send terminal sequences', () => {
  const steps = new StepLines('/home/me/shop')
  steps.take([call('a', 'Bash echo \u001b[2J')], 0, screen)
  expect(steps.running()).toBe('→ Bash echo  [2J')
  expect(steps.take([result('a', '\u001b[31mred', false)], 0, screen)).toEqual(['✗ Bash echo  [2J:  [31mred'])
})

test('calls of an exited client are no longer running, and their late results are not shown as steps', () => {
  const steps = new StepLines('/home/me/shop')
  steps.take([call('a', 'Bash sleep 60')], 0, screen)
  steps.clear()
  expect([steps.running(), steps.take([result('a', 'ok')], 0, screen)]).toEqual([null, []])
})
