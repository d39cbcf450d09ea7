import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { called, ran, returned } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function told(kind: string, ...entries: Entry[]) {
  const facts = startFacts()
  for (const entry of entries) facts.take(entry)
  return facts.facts().filter((fact) => fact.kind === kind)
}

test('a command with its exit status; run again it is one fact with its last end', () => {
  const entries = [
    ...ran('npm test', 'no', { exitCode: 1, ok: false, line: 2 }),
    ...ran('npm test', 'yes', { line: 4 }),
  ]
  expect(told('command', ...entries)).toMatchObject([
    { text: 'npm test', state: 'ok', line: 4, detail: { exitCode: 0, runs: 2 } },
  ])
  expect(told('command', ...ran('false', '', { exitCode: 1, ok: false }))).toMatchObject([
    { state: 'failed', detail: { exitCode: 1 } },
  ])
})

test('in the background it runs until its end is told', () => {
  const call = called({ type: 'command', command: 'npm run dev', background: true })
  const started = returned(call, 'Command running in background')
  expect(told('command', call, started)).toMatchObject([{ state: 'running' }])
  const ended = returned(call, 'exit code 4', { ok: false, exitCode: 4, line: 9 })
  expect(told('command', call, started, ended)).toMatchObject([
    { state: 'failed', line: 9, detail: { exitCode: 4, runs: 1 } },
  ])
})

test('what was refused never ran; what was stopped or never came back is unknown', () => {
  expect(told('command', ...ran('rm -rf /', 'no', { ok: false, exitCode: null, refused: true }))).toEqual([])
  expect(told('command', ...ran('make', '', { ok: false, exitCode: null, interrupted: true }))).toMatchObject([
    { state: 'unknown' },
  ])
  expect(told('command', called({ type: 'command', command: 'make', background: false }))).toMatchObject([
    { state: 'unknown' },
  ])
})

test('what Baton refused while it wanted a brief is no error; what another refused is', () => {
  const refused = { ok: false, exitCode: null, refused: true }
  expect(told('error', ...ran('make', 'hook error: [baton] The brief is wanted now.', refused))).toEqual([])
  expect(told('error', ...ran('make', 'hook error: not on Fridays', refused))).toHaveLength(1)
})

test('errors are told in their own words, and whether the same worked later', () => {
  const output = "Exit code 2\nsrc/a.ts(1,2): error TS2304: Cannot find name 'last'.\nfound 1 error"
  const failed = ran('npx tsc', output, { exitCode: 2, ok: false })
  expect(told('error', ...failed)).toMatchObject([
    {
      text: expect.stringContaining("error TS2304: Cannot find name 'last'."),
      detail: { of: 'npx tsc', overcome: false },
    },
  ])
  expect(told('error', ...failed, ...ran('npx tsc'))).toMatchObject([{ detail: { overcome: true } }])
  expect(told('error', ...failed, ...ran('ls'))).toMatchObject([{ detail: { overcome: false } }])
})

test('a tool that failed is an error too', () => {
  const edit = called({ type: 'change', path: '/a' })
  const error = returned(edit, '<tool_use_error>String to replace not found in file.</tool_use_error>', {
    ok: false,
    refused: true,
  })
  expect(told('error', edit, error)).toMatchObject([{ text: 'String to replace not found in file.' }])
})
