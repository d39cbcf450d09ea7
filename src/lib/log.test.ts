import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileLog } from './log.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-log-'))
  path = join(folder, 'state', 'baton.log')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lines = () =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('the log creates its folder and writes one line of JSON per entry with mode 0600', () => {
  const before = process.umask(0)
  try {
    const log = fileLog(path, {})
    log('error', 'two\nlines', { reason: 'ü', nothing: undefined })
    log('info', 'again')
  } finally {
    process.umask(before)
  }
  expect(lines()).toMatchObject([
    { level: 'error', text: 'two\nlines', reason: 'ü', pid: process.pid },
    { level: 'info', text: 'again' },
  ])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test('the log keeps debug entries only with BATON_LOG=debug', () => {
  fileLog(path, {})('debug', 'hidden')
  fileLog(path, { BATON_LOG: 'debug' })('debug', 'shown')
  fileLog(path, { BATON_LOG: 'nonsense' })('debug', 'hidden too')
  expect(lines().map((line) => line.text)).toEqual(['shown'])
})

test('the log is rotated at 2 MB and keeps one old file', () => {
  mkdirSync(dirname(path))
  writeFileSync(path, 'x'.repeat(2_000_001))
  writeFileSync(`${path}.1`, 'older')
  const log = fileLog(path, {})
  log('info', 'first of the new')
  log('info', 'second')
  expect(lines()).toHaveLength(2)
  expect(statSync(`${path}.1`).size).toBe(2_000_001)
  expect(readdirSync(dirname(path)).sort()).toEqual(['baton.log', 'baton.log.1'])
})

test('the log never throws when it cannot be written', () => {
  writeFileSync(join(folder, 'state'), 'a file where the folder should be')
  expect(() => fileLog(path, {})('error', 'lost')).not.toThrow()
  expect(readFileSync(join(folder, 'state'), 'utf8')).toBe('a file where the folder should be')
})
