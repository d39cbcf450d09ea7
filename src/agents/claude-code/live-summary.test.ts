import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/harness/temp-dir.js'
import { deleteCompactionNote, readCompactionNote } from './live-summary.js'

const note = {
  format: 1,
  session: 's1',
  at: 5000,
  trigger: 'auto',
  tokensBefore: 169_080,
  tokensAfter: 2703,
  summary: '<analysis>scratch</analysis>\n<summary>The login is fixed.</summary>',
  kept: { messages: 2, text: 'Bash {"command":"echo b"}\n\nb', whole: true },
}

function put(value: unknown): string {
  const dir = tempDir()
  writeFileSync(path.join(dir, 's1.summary.json'), typeof value === 'string' ? value : JSON.stringify(value))
  return dir
}

test('a note contains the summary, the figures and the kept tail', () => {
  const { format: _, session: __, ...rest } = note
  expect(readCompactionNote(put(note), 's1', 5000)).toEqual({ ...rest, summary: 'The login is fixed.' })
})

test('a note written during the compaction has a summary and no figures yet', () => {
  const early = { ...note, tokensBefore: null, tokensAfter: null, kept: null }
  expect(readCompactionNote(put(early), 's1', 0)).toMatchObject({
    summary: 'The login is fixed.',
    tokensBefore: null,
    tokensAfter: null,
    kept: null,
  })
})

test('a note of an earlier compaction is ignored', () => {
  expect(readCompactionNote(put(note), 's1', 5001)).toBeNull()
})

test.each([
  '',
  '{"format":1',
  'null',
  '[]',
  JSON.stringify({ ...note, format: 2 }),
  JSON.stringify({ ...note, session: 'other' }),
  JSON.stringify({ ...note, at: null }),
  JSON.stringify({ ...note, summary: '' }),
  JSON.stringify({ ...note, summary: 7 }),
])('an incomplete or foreign note (%#) is ignored', (text) => {
  expect(readCompactionNote(put(text), 's1', 0)).toBeNull()
})

test('a note larger than a megabyte is ignored', () => {
  const size = 1024 * 1024
  const room = size - JSON.stringify({ ...note, summary: '' }).length
  expect(readCompactionNote(put({ ...note, summary: 'x'.repeat(room) }), 's1', 0)?.summary).toHaveLength(room)
  expect(readCompactionNote(put({ ...note, summary: 'x'.repeat(room + 1) }), 's1', 0)).toBeNull()
})

test('there is no summary note without a file, or for a session id that is a path', () => {
  const dir = put(note)
  expect(readCompactionNote(null, 's1', 0)).toBeNull()
  expect(readCompactionNote('', 's1', 0)).toBeNull()
  expect(readCompactionNote(path.join(dir, 'missing'), 's1', 0)).toBeNull()
  mkdirSync(path.join(dir, 'sub'))
  expect(readCompactionNote(path.join(dir, 'sub'), '../s1', 0)).toBeNull()
  mkdirSync(path.join(dir, 's2.summary.json'))
  expect(readCompactionNote(dir, 's2', 0)).toBeNull()
})

test('forgetting a session removes only its note', () => {
  const dir = put(note)
  for (const name of ['s1.json', 's2.summary.json']) writeFileSync(path.join(dir, name), '{}')
  for (const id of ['s1', 's1', 's3']) deleteCompactionNote(dir, id)
  expect(readdirSync(dir).sort()).toEqual(['s1.json', 's2.summary.json'])
})

test('a session id that is a path removes nothing', () => {
  const dir = put(note)
  mkdirSync(path.join(dir, 'live'))
  deleteCompactionNote(path.join(dir, 'live'), '../s1')
  expect(existsSync(path.join(dir, 's1.summary.json'))).toBe(true)
})
