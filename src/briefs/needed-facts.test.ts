import { expect, test } from 'vitest'
import type { Fact } from '../contract/fact.js'
import { aFact } from '../testing/sample-fact.js'
import { lastRequestOf, neededFacts } from './needed-facts.js'

const needed = (facts: Fact[]): string[] => neededFacts(facts).map(({ fact }) => `${fact.kind} ${fact.text}`)
const run = (text: string, line: number, state: 'failed' | 'passed'): Fact =>
  aFact('test', text, { line, state, detail: { exitCode: state === 'failed' ? 1 : 0, failing: null } })

test('open, changed and binding facts are needed, and finished ones are not', () => {
  expect(
    needed([
      aFact('request', 'first', { line: 1 }),
      aFact('request', 'last', { line: 9 }),
      aFact('constraint', 'no Redis', { state: 'forbidden' }),
      aFact('todo', 'open one'),
      aFact('todo', 'done one', { state: 'done' }),
      aFact('question', 'answered?', { state: 'answered' }),
      aFact('file', 'read.ts', { state: 'read' }),
      aFact('file', 'changed.ts'),
      aFact('file', '/tmp/scratch.py'),
      aFact('error', 'boom'),
      aFact('command', 'ls'),
    ]),
  ).toEqual(['request last', 'constraint no Redis', 'todo open one', 'file changed.ts'])
})

test('a question about a declined plan does not replace the last request', () => {
  const work = aFact('request', 'Fix the parser', { line: 2, detail: { last: true } })
  const aside = aFact('request', 'Why not a map?', { line: 7, detail: { aside: true } })
  expect(needed([work, aside])).toEqual(['request Fix the parser'])
  expect(lastRequestOf([{ ...work, detail: {} }, aside])?.text).toBe('Fix the parser')
  expect(lastRequestOf([aside])?.text).toBe('Why not a map?')
})

test('Baton’s own prompts and client commands are not requests', () => {
  const facts = [
    aFact('request', 'fix the export', { line: 5 }),
    aFact('request', '[baton] A handoff brief is wanted. Never guess figures.', { line: 8 }),
    aFact('constraint', 'Never guess figures.', { line: 8, state: 'forbidden' }),
    aFact('decision', 'Decisions: we decided on a file.', { line: 8, detail: { by: 'user' } }),
    aFact('request', '/handoff', { line: 9 }),
    aFact('request', 'A hook said this.\n\n[baton] You go on with a job that another session began.', { line: 10 }),
    aFact('constraint', 'Never ask again.', { line: 10, state: 'forbidden' }),
    aFact('request', 'A hook said this.\n\n[baton] You continue a job that another session began.', { line: 11 }),
  ]
  expect(needed(facts)).toEqual(['request fix the export'])
})

test('the newest failing and passing checks are needed, as commands', () => {
  expect(
    needed([
      run('npx vitest run a', 10, 'passed'),
      run('npx vitest run b', 20, 'failed'),
      aFact('command', 'npx tsc --noEmit', { line: 21 }),
      aFact('command', 'npm run lint', { line: 22, state: 'failed' }),
      aFact('command', 'cat a', { line: 23, state: 'failed' }),
    ]).sort(),
  ).toEqual([
    'command npm run lint',
    'command npx tsc --noEmit',
    'command npx vitest run a',
    'command npx vitest run b',
  ])
})

test('a check that failed and passed later is not failing, unless a test it named still is', () => {
  const failed = run('go test ./a', 10, 'failed')
  const passed = run('go test ./b', 20, 'passed')
  expect(needed([failed, passed])).toEqual(['command go test ./b'])
  const standing = aFact('test', 'TestBurst', { line: 10, detail: { command: 'go test ./a' } })
  expect(needed([failed, passed, standing])).toEqual(['test TestBurst', 'command go test ./a', 'command go test ./b'])
})

test('of very many facts the newest are needed', () => {
  const files = Array.from({ length: 500 }, (_, i) => aFact('file', `src/m${i}.ts`, { line: i }))
  const found = needed(files)
  expect(found).toHaveLength(60)
  expect(found[0]).toBe('file src/m499.ts')
})

test.each([
  ['load.sh has run and must not run again, because it appends every row', true],
  ['The mails are sent. Do not send them twice', true],
  ['never start migrate.sh again', true],
  ['The tests of load.sh pass again', false],
  ['users cannot log in again', false],
])('a finding is needed only if it forbids to repeat a step: "%s"', (text, isNeeded) => {
  expect(needed([aFact('finding', text)])).toEqual(isNeeded ? [`finding ${text}`] : [])
})
