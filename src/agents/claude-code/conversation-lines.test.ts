import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_BYTES_WITHOUT_LINE_END, readLines } from './conversation.js'

function openSparse(size: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-lines-'))
  const fd = openSync(join(folder, 'x.jsonl'), 'w+')
  ftruncateSync(fd, size)
  onTestFinished(() => {
    closeSync(fd)
    rmSync(folder, { recursive: true })
  })
  return fd
}

const read = (size: number, goesOn?: () => boolean) =>
  readLines(openSparse(size), { from: 0, to: size, lines: 0, longest: 1024 }, String, () => {}, goesOn)

test('reading a file without a line end stops at the time limit', () => {
  let asked = 0
  expect(read(3 * 1024 ** 3, () => ++asked <= 3)).toEqual({ next: 0, lines: 0, stopped: true })
  expect(asked).toBe(4)
})

test('reading a file without a line end stops after 128 MB even without a time limit', () => {
  let asked = 0
  const { stopped } = read(MAX_BYTES_WITHOUT_LINE_END * 4, () => ++asked > 0)
  expect(stopped).toBe(true)
  expect(asked).toBeLessThanOrEqual(MAX_BYTES_WITHOUT_LINE_END / 1024 ** 2 + 2)
})
