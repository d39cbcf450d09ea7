import { expect, test } from 'vitest'
import { aFact } from '../facts/a-fact.js'
import { keyOf } from '../facts/key-of.js'
import { writeBrief } from './brief.js'

const last = aFact('request', 'Fix the login.\nThen the logout.', { detail: { last: true } })

test('what further work needs stands first, under titles that say what it is', () => {
  const facts = [
    last,
    aFact('constraint', 'Never touch legacy/', { state: 'forbidden' }),
    aFact('todo', 'Write docs'),
    aFact('todo', 'Write tests', { state: 'done' }),
    aFact('file', 'src/login.ts'),
    aFact('file', 'src/read.ts', { state: 'read' }),
    aFact('commit', 'Close sockets', { detail: { id: '0dd0dd0a1b2c3' } }),
    aFact('branch', 'fix/login'),
    aFact('command', 'npm test', { state: 'failed', detail: { exitCode: 2 } }),
    aFact('command', 'npm run dev', { state: 'running', detail: { exitCode: null } }),
    aFact('request', 'Look around first.'),
  ]
  const { text, keys } = writeBrief(facts, 5_000)
  expect(text).toBe(`## The user's last request, word for word
> Fix the login.
> Then the logout.

## What the user requires and forbids
- Never touch legacy/ (forbidden)

## Open todos
- Write docs

## Files changed
- src/login.ts

## Branch and commits
- Close sockets (0dd0dd0a1)
- fix/login (branch)

## Commands that failed or still run
- npm test (exit 2)
- npm run dev (running)

## Earlier requests
> Look around first.
`)
  expect(new Set(keys)).toEqual(new Set(facts.filter(({ state }) => state !== 'done' && state !== 'read').map(keyOf)))
})

test('an earlier request is never called the last', () => {
  expect(writeBrief([aFact('request', 'Look around first.')], 1_000).text).toBe('## Earlier requests\n> Look around first.\n')
})

test('nothing worth saying is nothing', () => {
  expect(writeBrief([], 1_000)).toEqual({ text: '', keys: [] })
  expect(writeBrief([aFact('file', 'a.ts', { state: 'read' }), aFact('command', 'ls')], 1_000)).toEqual({ text: '', keys: [] })
})

test.each([600, 1_500, 3_500, 7_500])('it never exceeds %i characters, and every section has its turn', (longest) => {
  const facts = [
    { ...last, text: 'word '.repeat(4_000) },
    ...Array.from({ length: 60 }, (_, i) => aFact('constraint', `Rule ${i}: ${'always do it so '.repeat(20)}`)),
    ...Array.from({ length: 30 }, (_, i) => aFact('todo', `Todo ${i}`)),
    ...Array.from({ length: 200 }, (_, i) => aFact('file', `src/deep/folder/part-${i}.ts`)),
  ]
  const { text, keys } = writeBrief(facts, longest)
  expect(text.length).toBeLessThanOrEqual(longest)
  expect(text.length).toBeGreaterThan(longest * 0.6)
  expect(text).toContain("The user's last request")
  expect(keys).toHaveLength(new Set(keys).size)
  if (longest < 1_500) return
  for (const title of ['requires and forbids', 'Open todos', 'Files changed']) expect(text).toContain(title)
  expect(text).toMatch(/- and \d+ more/)
})

test('quoted words say where they were cut, and a list says how many it leaves out', () => {
  const long = writeBrief([{ ...last, text: 'word '.repeat(2_000) }], 5_000).text
  expect(long).toMatch(/word…\n> \(cut here; \d+ more characters\)/)
  const files = Array.from({ length: 55 }, (_, i) => aFact('file', `part-${i}.ts`))
  expect(writeBrief(files, 5_000).text).toContain('- part-39.ts\n- and 15 more\n')
})

test('one that is too long does not keep out a shorter one behind it', () => {
  const todos = [aFact('todo', 'x'.repeat(190)), aFact('todo', 'Write docs')]
  expect(writeBrief(todos, 200).text).toBe('## Open todos\n- Write docs\n- and 1 more\n')
})
