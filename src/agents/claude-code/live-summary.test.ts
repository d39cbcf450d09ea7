import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/claude-code/temp-dir.js'
import { addAfterCompaction, expectAfterCompaction, forgetLiveSummary, readLiveSummary } from './live-summary.js'

const note = {
  format: 1,
  session: 's1',
  at: 5000,
  trigger: 'auto',
  tokensBefore: 169_080,
  tokensAfter: 2703,
  summary: '<summary>The login is fixed.</summary>',
  kept: { messages: 2, text: 'Bash {"command":"echo b"}\n\nb', whole: true },
  added: null,
}

function put(value: unknown): string {
  const dir = tempDir()
  writeFileSync(path.join(dir, 's1.summary.json'), typeof value === 'string' ? value : JSON.stringify(value))
  return dir
}

test('a note tells the summary, the figures and the kept tail', () => {
  const { format: _, session: __, ...rest } = note
  expect(readLiveSummary(put(note), 's1', 5000)).toEqual(rest)
})

test('a note written while the compaction runs has a summary and no figures yet', () => {
  const early = { ...note, tokensBefore: null, tokensAfter: null, kept: null }
  expect(readLiveSummary(put(early), 's1', 0)).toMatchObject({
    summary: note.summary,
    tokensBefore: null,
    tokensAfter: null,
    kept: null,
  })
})

test('a note of an earlier compaction is none', () => {
  expect(readLiveSummary(put(note), 's1', 5001)).toBeNull()
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
])('a torn or foreign note (%#) is none', (text) => {
  expect(readLiveSummary(put(text), 's1', 0)).toBeNull()
})

test('a note may have a megabyte and not more', () => {
  const size = 1024 * 1024
  const room = size - JSON.stringify({ ...note, summary: '' }).length
  expect(readLiveSummary(put({ ...note, summary: 'x'.repeat(room) }), 's1', 0)?.summary).toHaveLength(room)
  expect(readLiveSummary(put({ ...note, summary: 'x'.repeat(room + 1) }), 's1', 0)).toBeNull()
})

test('no folder, no file, a folder of that name, a session id that is a path: none', () => {
  const dir = put(note)
  expect(readLiveSummary(undefined, 's1', 0)).toBeNull()
  expect(readLiveSummary('', 's1', 0)).toBeNull()
  expect(readLiveSummary(path.join(dir, 'missing'), 's1', 0)).toBeNull()
  mkdirSync(path.join(dir, 'sub'))
  expect(readLiveSummary(path.join(dir, 'sub'), '../s1', 0)).toBeNull()
  mkdirSync(path.join(dir, 's2.summary.json'))
  expect(readLiveSummary(dir, 's2', 0)).toBeNull()
})

test('what the mod is given is whole, readable by its owner only, and replaced by the next', () => {
  const dir = tempDir()
  expectAfterCompaction(dir, 's1')
  addAfterCompaction(dir, 's1', 1, 'first')
  addAfterCompaction(dir, 's1', 2, 'second')
  expect(readdirSync(dir).sort()).toEqual(['s1.after.json', 's1.expect'])
  expect(JSON.parse(readFileSync(path.join(dir, 's1.after.json'), 'utf8'))).toEqual({
    format: 1,
    session: 's1',
    at: 2,
    text: 'second',
  })
  for (const name of readdirSync(dir)) expect(statSync(path.join(dir, name)).mode & 0o777).toBe(0o600)
})

test('forgetting a session takes its notes and no other', () => {
  const dir = put(note)
  for (const id of ['s1', 's2']) {
    expectAfterCompaction(dir, id)
    addAfterCompaction(dir, id, 1, 'x')
  }
  writeFileSync(path.join(dir, 's1.json'), '{}')
  forgetLiveSummary(dir, 's1')
  forgetLiveSummary(dir, 's3')
  expect(readdirSync(dir).sort()).toEqual(['s1.json', 's2.after.json', 's2.expect'])
})

test('a session id that is a path writes and removes nothing', () => {
  const dir = tempDir()
  const inside = path.join(dir, 'live')
  mkdirSync(inside)
  writeFileSync(path.join(dir, 'x.expect'), '')
  expectAfterCompaction(inside, '../y')
  addAfterCompaction(inside, '../y', 1, 'x')
  forgetLiveSummary(inside, '../x')
  expect([readdirSync(inside), existsSync(path.join(dir, 'x.expect')), readdirSync(dir).length]).toEqual([[], true, 2])
})
