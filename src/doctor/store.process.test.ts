import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import { openDatabase } from '../store/sqlite/driver.js'
import { createDoctorHome } from './fixtures/doctor-home.js'

const withStore = () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.signal('SessionStart', { session_id: 's1', source: 'startup' })
  const db = openDatabase(fixture.home.store)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return fixture
}

test('a sound store is reported with its content', async () => {
  const report = await withStore().examine()
  expect(report.failed).toEqual([])
  expect(report.of('store').detail).toMatch(/baton\.db, \d+.* kB.*: 1 session, 0 readings, \d+ events, 0 messages/)
})

test('a file that is no store is reported with the next step, and not changed', async () => {
  const fixture = withStore()
  writeFileSync(fixture.home.store, 'not a database, but long enough to be looked at as one '.repeat(100))
  const bytes = readFileSync(fixture.home.store)
  const report = await fixture.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('is damaged')
  expect(report.of('store').fix).toContain(`mv '${fixture.home.store}'`)
  expect(readFileSync(fixture.home.store).equals(bytes)).toBe(true)
})

test('the checks that need a store say whether it is missing or cannot be opened', async () => {
  const fixture = withStore()
  const reasons = async () => {
    const report = await fixture.examine()
    return ['archives', 'transcripts']
      .map((name) => report.of(name))
      .filter(({ detail }) => detail.includes('Not checked'))
  }
  expect(await reasons()).toEqual([])
  rmSync(fixture.home.store)
  const missing = await reasons()
  expect(missing.map(({ ok, detail }) => [ok, detail.includes('exists')])).toEqual([[true, true]])
  writeFileSync(fixture.home.store, 'not a database, but long enough to be looked at as one '.repeat(100))
  const damaged = await reasons()
  expect(damaged.map(({ ok, detail }) => [ok, detail.includes(fixture.home.store)])).toEqual([
    [true, true],
    [true, true],
  ])
})

test('a truncated store is reported and not changed', async () => {
  const fixture = withStore()
  truncateSync(fixture.home.store, Math.floor(statSync(fixture.home.store).size / 2))
  const bytes = readFileSync(fixture.home.store)
  const report = await fixture.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('is damaged')
  expect(readFileSync(fixture.home.store).equals(bytes)).toBe(true)
})

test('a store with a damaged page that still opens is reported', async () => {
  const fixture = withStore()
  const { size } = statSync(fixture.home.store)
  const fd = openSync(fixture.home.store, 'r+')
  writeSync(fd, Buffer.alloc(4096, 0x5a), 0, 4096, size - 4096)
  closeSync(fd)
  const report = await fixture.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toMatch(/is damaged \(.+\)/)
})

test('a store of a newer Baton is reported and not changed', async () => {
  const fixture = withStore()
  const db = openDatabase(fixture.home.store)
  db.exec('PRAGMA user_version = 999')
  db.close()
  const report = await fixture.fix()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('999')
  expect(report.of('store').fix).toContain('npm install -g baton-cli')
})

test('a read-only store is reported and made writable', async () => {
  const fixture = withStore()
  chmodSync(fixture.home.store, 0o400)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('is read-only (mode 400)')
  expect((await fixture.fix()).failed).toEqual([])
  expect(statSync(fixture.home.store).mode & 0o777).toBe(0o600)
})

test('a store that others can read is reported and closed', async () => {
  const fixture = withStore()
  chmodSync(fixture.home.store, 0o644)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('Other users can read')
  expect((await fixture.fix()).failed).toEqual([])
})

test('a store that another process keeps locked is reported', async () => {
  const fixture = withStore()
  const db = openDatabase(fixture.home.store)
  db.exec('BEGIN IMMEDIATE')
  const report = await fixture.examine()
  db.exec('ROLLBACK')
  db.close()
  expect(report.failed).toEqual(['store'])
  expect(report.of('store').detail).toContain('locked by another process')
  expect((await fixture.examine()).failed).toEqual([])
})
