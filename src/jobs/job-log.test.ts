import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { JobLog } from './job-log.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-job-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a job log is readable by its owner alone, and is appended to by the next process', () => {
  const path = join(folder, 'jobs', 'log.jsonl')
  for (const line of ['one', 'two']) {
    const log = new JobLog(path)
    log.add(line)
    log.close()
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a job log keeps its maximum length: the newest lines and one rotated file', () => {
  const path = join(folder, 'log.jsonl')
  const log = new JobLog(path, 100)
  for (let n = 0; n < 50; n++) log.add(`${n} ${'x'.repeat(20)}`)
  log.close()
  const kept = [`${path}.1`, path]
    .filter(existsSync)
    .map((file) => readFileSync(file, 'utf8'))
    .join('')
  expect(kept.length).toBeLessThan(300)
  expect(kept.trim().split('\n').at(-1)).toMatch(/^49 /)
})

test('lines that cannot be written are dropped, reported once, and written again when possible', () => {
  const path = join(folder, 'log.jsonl')
  mkdirSync(path)
  const reasons: unknown[] = []
  const log = new JobLog(path, undefined, (error) => reasons.push((error as NodeJS.ErrnoException).code))
  for (const line of ['one', 'two']) log.add(line)
  expect(reasons).toEqual(['EISDIR'])
  rmdirSync(path)
  log.add('three')
  log.close()
  expect(readFileSync(path, 'utf8')).toBe('three\n')
})

test.skipIf(platform() !== 'linux')('a full disk does not fail a job over its log', () => {
  const path = join(folder, 'log.jsonl')
  symlinkSync('/dev/full', path)
  const reasons: unknown[] = []
  const log = new JobLog(path, undefined, (error) => reasons.push((error as NodeJS.ErrnoException).code))
  log.add('one')
  log.close()
  expect(reasons).toEqual(['ENOSPC'])
})
