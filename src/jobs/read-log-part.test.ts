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

/** All parts from a place on. */
function readAll(after: string | null = null): { lines: string[]; next: string } {
  const lines: string[] = []
  for (let next = after; ; ) {
    const part = readLogPart(path, next)
    lines.push(...part.lines)
    next = part.next
    if (!part.more) return { lines, next }
  }
}

test('nothing is there yet: nothing is read, and the place after it holds', () => {
  expect(readLogPart(path, null)).toEqual({ lines: [], next: '', more: false })
})

test('reads on from where it was, and only whole lines', () => {
  writeFileSync(path, 'one\ntwo\nthr')
  const first = readAll()
  expect(first.lines).toEqual(['one', 'two'])
  expect(readAll(first.next).lines).toEqual([])
  appendFileSync(path, 'ee\nfour\n')
  expect(readAll(first.next).lines).toEqual(['three', 'four'])
})

test('a long log comes in parts, in order and without a gap', () => {
  const all = Array.from({ length: 5_000 }, (_, i) => `${i} ${'x'.repeat(i % 300)}`)
  writeFileSync(path, `${all.join('\n')}\n`)
  expect(readLogPart(path, null).lines.length).toBeLessThan(5_000)
  expect(readAll().lines).toEqual(all)
})

test('a line longer than a part is read whole; one beyond all measure is passed over', () => {
  writeFileSync(path, `${'y'.repeat(600_000)}\nlast\n`)
  expect(readAll().lines.map(({ length }) => length)).toEqual([600_000, 4])
  writeFileSync(path, `first\n${'z'.repeat(20 * 1024 * 1024)}\nlast\n`)
  const { lines } = readAll()
  expect(lines[0]).toBe('first')
  expect(lines.at(-1)).toBe('last')
})

test('a log that is put aside is read to its end, then the new one', () => {
  writeFileSync(path, 'one\n')
  const { next } = readAll()
  appendFileSync(path, 'two\n')
  renameSync(path, `${path}.1`)
  writeFileSync(path, 'three\n')
  expect(readAll(next).lines).toEqual(['two', 'three'])
  expect(readAll().lines).toEqual(['one', 'two', 'three'])
})

test('a place in a file that is gone, or no place at all, begins anew', () => {
  writeFileSync(path, 'one\n')
  expect(readAll('999999999.5').lines).toEqual(['one'])
  expect(readAll('../../etc/passwd').lines).toEqual(['one'])
})
