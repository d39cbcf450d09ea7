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

test('is for its owner, and goes on where another left it', () => {
  const path = join(folder, 'jobs', 'log.jsonl')
  for (const line of ['one', 'two']) {
    const log = new JobLog(path)
    log.add(line)
    log.close()
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('keeps to its length: the newest lines and one file before them', () => {
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

test('leaves out what cannot be kept, says so once, and goes on when it can', () => {
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

test.skipIf(platform() !== 'linux')('a full disk fails no job', () => {
  const path = join(folder, 'log.jsonl')
  symlinkSync('/dev/full', path)
  const reasons: unknown[] = []
  const log = new JobLog(path, undefined, (error) => reasons.push((error as NodeJS.ErrnoException).code))
  log.add('one')
  log.close()
  expect(reasons).toEqual(['ENOSPC'])
})
