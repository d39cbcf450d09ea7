import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { readLogPart } from './job-log.js'

let path = ''
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-log-'))
  path = join(folder, 'log.jsonl')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

/** Reads all parts from a cursor on. */
function readAll(after: string | null = null): { lines: string[]; next: string } {
  const lines: string[] = []
  for (let next = after; ; ) {
    const part = readLogPart(path, next)
    lines.push(...part.lines)
    next = part.next
    if (!part.more) return { lines, next }
  }
}

test('reading a missing log returns nothing and a cursor that stays valid', () => {
  expect(readLogPart(path, null)).toEqual({ lines: [], next: '', more: false })
})

test('reading continues from the cursor, with complete lines only', () => {
  writeFileSync(path, 'one\ntwo\nthr')
  const first = readAll()
  expect(first.lines).toEqual(['one', 'two'])
  expect(readAll(first.next).lines).toEqual([])
  appendFileSync(path, 'ee\nfour\n')
  expect(readAll(first.next).lines).toEqual(['three', 'four'])
})

test('a long log is read in parts, in order and without a gap', () => {
  const all = Array.from({ length: 5_000 }, (_, i) => `${i} ${'x'.repeat(i % 300)}`)
  writeFileSync(path, `${all.join('\n')}\n`)
  expect(readLogPart(path, null).lines.length).toBeLessThan(5_000)
  expect(readAll().lines).toEqual(all)
})

test('a line longer than a part is read whole, and one beyond the limit is skipped', () => {
  writeFileSync(path, `${'y'.repeat(600_000)}\nlast\n`)
  expect(readAll().lines.map(({ length }) => length)).toEqual([600_000, 4])
  writeFileSync(path, `first\n${'z'.repeat(20 * 1024 * 1024)}\nlast\n`)
  const { lines } = readAll()
  expect(lines[0]).toBe('first')
  expect(lines.at(-1)).toBe('last')
})

test('a rotated log is read to its end before the new one', () => {
  writeFileSync(path, 'one\n')
  const { next } = readAll()
  appendFileSync(path, 'two\n')
  renameSync(path, `${path}.1`)
  writeFileSync(path, 'three\n')
  expect(readAll(next).lines).toEqual(['two', 'three'])
  expect(readAll().lines).toEqual(['one', 'two', 'three'])
})

test('a cursor in a deleted file, or an invalid one, starts from the beginning', () => {
  writeFileSync(path, 'one\n')
  expect(readAll('999999999.5').lines).toEqual(['one'])
  expect(readAll('../../etc/passwd').lines).toEqual(['one'])
})
