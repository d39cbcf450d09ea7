import { chmodSync, closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openDatabase } from '../store/sqlite/driver.js'
import { newTrial } from './fixtures/doctor-home.js'

const withStore = () => {
  const trial = newTrial()
  trial.install()
  trial.signal('SessionStart', { session_id: 's1', source: 'startup' })
  const db = openDatabase(trial.home.store)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return trial
}

test('a sound store is reported with its content', async () => {
  const report = await withStore().examine()
  expect(report.failed).toEqual([])
  expect(report.of('store').detail).toMatch(/baton\.db, \d+.* kB.*: 1 session, 0 readings, \d+ events, 0 messages/)
})

test('a file that is no store is reported with the next step, and not changed', async () => {
  const trial = withStore()
  writeFileSync(trial.home.store, 'not a database, but long enough to be looked at as one '.repeat(100))
  const bytes = readFileSync(trial.home.store)
  const report = await trial.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('is damaged')
  expect(report.of('store').fix).toContain(`mv '${trial.home.store}'`)
  expect(readFileSync(trial.home.store).equals(bytes)).toBe(true)
})

test('a truncated store is reported and not changed', async () => {
  const trial = withStore()
  truncateSync(trial.home.store, Math.floor(statSync(trial.home.store).size / 2))
  const bytes = readFileSync(trial.home.store)
  const report = await trial.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('is damaged')
  expect(readFileSync(trial.home.store).equals(bytes)).toBe(true)
})

test('a store with a damaged page that still opens is reported', async () => {
  const trial = withStore()
  const { size } = statSync(trial.home.store)
  const fd = openSync(trial.home.store, 'r+')
  writeSync(fd, Buffer.alloc(4096, 0x5a), 0, 4096, size - 4096)
  closeSync(fd)
  const report = await trial.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toMatch(/is damaged \(.+\)/)
})

test('a store of a newer Baton is reported and not changed', async () => {
  const trial = withStore()
  const db = openDatabase(trial.home.store)
  db.exec('PRAGMA user_version = 999')
  db.close()
  const report = await trial.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('written by a newer Baton (version 999')
  expect(report.of('store').fix).toContain('Update Baton')
})

test('a read-only store is reported and made writable', async () => {
  const trial = withStore()
  chmodSync(trial.home.store, 0o400)
  const report = await trial.examine()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('is read-only (mode 400)')
  expect((await trial.fix()).failed).toEqual([])
  expect(statSync(trial.home.store).mode & 0o777).toBe(0o600)
})

test('a store that others can read is reported and closed', async () => {
  const trial = withStore()
  chmodSync(trial.home.store, 0o644)
  const report = await trial.examine()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('Others can read')
  expect((await trial.fix()).failed).toEqual([])
})

test('a store that another process keeps locked is reported', async () => {
  const trial = withStore()
  const db = openDatabase(trial.home.store)
  db.exec('BEGIN IMMEDIATE')
  const report = await trial.examine()
  db.exec('ROLLBACK')
  db.close()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('in use by another process')
  expect((await trial.examine()).failed).toEqual([])
})
