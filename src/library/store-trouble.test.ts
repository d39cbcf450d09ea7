import { chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BatonError } from '../lib/errors.js'
import { openDatabase } from '../store/sqlite/driver.js'
import { type LibraryHome, libraryHome } from './fixtures/library-home.js'

const usage = { input_tokens: 1_000, output_tokens: 1 }

/** Writes a store with one session to disk, as a single file. */
function writeStore(): { home: LibraryHome; path: string } {
  const home = libraryHome()
  const tracker = home.open()
  for (let i = 0; i < 50; i++) tracker.updateUsage({ ...usage, input_tokens: 1_000 + i })
  tracker.close()
  const path = join(home.home, 'baton.db')
  change(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
  return { home, path }
}

function change(path: string, sql: string): void {
  const db = openDatabase(path, { timeout: 1_000 })
  db.exec(sql)
  db.close()
}

function refusal(work: () => unknown): BatonError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(BatonError)
    expect((error as BatonError).hint).not.toBe('')
    return error as BatonError
  }
  throw new Error('nothing was thrown')
}

test('a file that is not a store is refused with a hint and keeps its bytes', () => {
  const home = libraryHome()
  const path = join(home.home, 'baton.db')
  writeFileSync(path, 'not a database, but somebody may want it back'.repeat(100))
  const before = readFileSync(path)
  expect(refusal(() => home.open()).message).toContain('damaged')
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a store of a newer version is refused with a hint and keeps its bytes', () => {
  const { home, path } = writeStore()
  change(path, 'PRAGMA user_version = 9999')
  change(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const before = readFileSync(path)
  const error = refusal(() => home.open())
  expect(error.message).toContain('newer')
  expect(error.exit).toBe(4)
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a truncated store is refused with a hint when it is opened or used, and keeps its bytes', () => {
  const { home, path } = writeStore()
  truncateSync(path, 3 * 4096)
  const before = readFileSync(path)
  refusal(() => {
    const tracker = home.open()
    tracker.currentState()
    tracker.updateUsage(usage)
  })
  expect(readFileSync(path).equals(before)).toBe(true)
})

test.skipIf(process.getuid?.() === 0)('a store that cannot be written is refused with a hint', () => {
  const { home, path } = writeStore()
  chmodSync(path, 0o400)
  chmodSync(home.home, 0o500)
  try {
    expect(refusal(() => home.open().updateUsage(usage)).message).toContain('is not writable')
  } finally {
    chmodSync(home.home, 0o700)
  }
})

test('a home folder that cannot be created is refused with a hint', () => {
  const home = libraryHome()
  writeFileSync(join(home.dir, 'file'), '')
  refusal(() => home.open({ home: join(home.dir, 'file', 'below') }))
})
