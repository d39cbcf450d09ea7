import { expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { claimedFiles, unsupportedFiles } from './claimed-files.js'

const under = (text: string, heading = 'Files'): string[] => claimedFiles(`# Handoff brief\n\n## ${heading}\n${text}\n`)

test.each([
  [
    'a list under a label',
    'Changed:\n- `src/a.ts`\n- src/b.ts: now sorted, see src/c.ts\nRead:\n- src/d.ts',
    ['src/a.ts', 'src/b.ts'],
  ],
  [
    'a label with its list on the same line',
    'Changed: `a.ts`, b.ts and src/c.py\nRead: d.ts, e.ts',
    ['a.ts', 'b.ts', 'src/c.py'],
  ],
  ['a bold label', '**Modified:**\n* a.ts\n\n**Relevant**\n* b.ts', ['a.ts']],
  ['lists below headings', '### Changed\n1. a.ts\n2. [b.ts](x/b.ts)\n### Read\n- c.ts', ['a.ts', 'b.ts']],
  ['notes after each file', '- `a.ts` (changed)\n- `b.ts` (read)\n- `c.ts` — new\n- d.ts', ['a.ts', 'c.ts']],
  ['a table', '| file | what |\n|---|---|\n| `a.ts` | changed |\n| b.ts | read |', ['a.ts']],
  ['git’s status letters', 'Changed:\n```\nM src/a.ts\nA  src/b.ts\n```', ['src/a.ts', 'src/b.ts']],
  ['a path with line numbers', 'Changed:\n- src/a.ts:12-40 the wait', ['src/a.ts']],
])('changed files are recognized in %s', (_, text, files) => {
  expect(under(text)).toEqual(files)
})

test('a heading can declare all files below it as changed', () => {
  expect(under('- a.ts\n- b.ts (unchanged)\n- c.ts still to do', 'Files changed')).toEqual(['a.ts'])
  expect(under('- a.ts', 'Files (read, changed)')).toEqual([])
})

test.each([
  ['the branch', 'Branch: fix/a.ts-order\nCommit: 1a2b3c4'],
  [
    'folders, patterns, addresses and versions',
    'Changed:\n- src/\n- src/*.ts\n- https://example.com/a.ts\n- 1.2.3\n- several tests',
  ],
  ['a plan', 'Changed:\n- a.ts will be next\n- b.ts: not yet changed'],
  ['a list without a label', '- a.ts\n- b.ts'],
])('no changed file is recognized in %s', (_, text) => {
  expect(under(text)).toEqual([])
})

test('a list of planned work claims no changed files', () => {
  expect(claimedFiles('## Next exact step\nChange:\n- a.ts\n## Done\n- changed: b.ts')).toEqual(['b.ts'])
})

const facts = [
  aFact('file', 'src/a.ts'),
  aFact('file', 'src/read.ts', { state: 'read' }),
  aFact('command', './build.sh gen.ts'),
]

test('a claimed file is supported by a change, by a command that names it, or by tools that write it', () => {
  expect(
    unsupportedFiles(['src/a.ts', 'a.ts', 'app/src/a.ts', 'gen.ts', 'package-lock.json', 'Cargo.lock'], facts, ''),
  ).toEqual([])
  expect(unsupportedFiles(['src/read.ts', 'src/never.ts', 'ba.ts'], facts, '')).toEqual([
    'src/read.ts',
    'src/never.ts',
    'ba.ts',
  ])
  expect(unsupportedFiles(['src/never.ts'], facts, 'changed before: src/never.ts')).toEqual([])
})

test('reading a file is no evidence of a change, and a formatter is evidence for known files', () => {
  const looked = [...facts, aFact('command', 'cat src/read.ts')]
  expect(unsupportedFiles(['src/read.ts'], looked, '')).toEqual(['src/read.ts'])
  const formatted = [...facts, aFact('command', 'npx prettier --write .')]
  expect(unsupportedFiles(['src/read.ts', 'src/never.ts'], formatted, '')).toEqual(['src/never.ts'])
})

test('after a merge any file may have changed', () => {
  expect(unsupportedFiles(['src/never.ts'], [...facts, aFact('command', 'git merge main')], '')).toEqual([])
})
