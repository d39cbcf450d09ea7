import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { called, ran, returned } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function collectFacts(kind: string, ...entries: Entry[]) {
  const facts = startFacts()
  for (const entry of entries) facts.add(entry)
  return facts.facts().filter((fact) => fact.kind === kind)
}

test('a command that ran twice is one fact with its last exit status', () => {
  const entries = [
    ...ran('npm test', 'no', { exitCode: 1, ok: false, line: 2 }),
    ...ran('npm test', 'yes', { line: 4 }),
  ]
  expect(collectFacts('command', ...entries)).toMatchObject([
    { text: 'npm test', state: 'ok', line: 4, detail: { exitCode: 0, runs: 2 } },
  ])
  expect(collectFacts('command', ...ran('false', '', { exitCode: 1, ok: false }))).toMatchObject([
    { state: 'failed', detail: { exitCode: 1 } },
  ])
})

test('a background command is running until its end is reported', () => {
  const call = called({ type: 'command', command: 'npm run dev', background: true })
  const started = returned(call, 'Command running in background')
  expect(collectFacts('command', call, started)).toMatchObject([{ state: 'running' }])
  const ended = returned(call, 'exit code 4', { ok: false, exitCode: 4, line: 9 })
  expect(collectFacts('command', call, started, ended)).toMatchObject([
    { state: 'failed', line: 9, detail: { exitCode: 4, runs: 1 } },
  ])
})

test('a refused command is no fact, and one that was interrupted or never returned is unknown', () => {
  expect(collectFacts('command', ...ran('rm -rf /', 'no', { ok: false, exitCode: null, refused: true }))).toEqual([])
  expect(collectFacts('command', ...ran('make', '', { ok: false, exitCode: null, interrupted: true }))).toMatchObject([
    { state: 'unknown' },
  ])
  expect(collectFacts('command', called({ type: 'command', command: 'make', background: false }))).toMatchObject([
    { state: 'unknown' },
  ])
})

test('a call that Baton refused is no error, and one that another hook refused is', () => {
  const refused = { ok: false, exitCode: null, refused: true }
  expect(collectFacts('error', ...ran('make', 'hook error: [baton] Tools are denied now.', refused))).toEqual([])
  expect(collectFacts('error', ...ran('make', 'hook error: not on Fridays', refused))).toHaveLength(1)
})

test('an error is quoted, and marked as overcome when the same command works later', () => {
  const output = "Exit code 2\nsrc/a.ts(1,2): error TS2304: Cannot find name 'last'.\nfound 1 error"
  const failed = ran('npx tsc', output, { exitCode: 2, ok: false })
  expect(collectFacts('error', ...failed)).toMatchObject([
    {
      text: expect.stringContaining("error TS2304: Cannot find name 'last'."),
      detail: { of: 'npx tsc', overcome: false },
    },
  ])
  expect(collectFacts('error', ...failed, ...ran('npx tsc'))).toMatchObject([{ detail: { overcome: true } }])
  expect(collectFacts('error', ...failed, ...ran('ls'))).toMatchObject([{ detail: { overcome: false } }])
})

test('a failed tool call is an error too', () => {
  const edit = called({ type: 'change', path: '/a' })
  const error = returned(edit, '<tool_use_error>String to replace not found in file.</tool_use_error>', {
    ok: false,
    refused: true,
  })
  expect(collectFacts('error', edit, error)).toMatchObject([{ text: 'String to replace not found in file.' }])
})
