import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BatonError, EXIT } from '../../lib/errors.js'
import { readingEvent, sampleEvent, sampleReading, sampleSession } from '../samples.cases.js'
import { openDatabase } from './driver.js'
import { bundleChild } from './fixtures/bundle-child.js'
import { MIGRATIONS } from './migrations.js'
import { openStore } from './sqlite.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-store-'))
  path = join(folder, 'baton.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Hashes every file below the test's folder, except
 * SQLite's shared-memory index, which holds no data.
 */
function hashFiles(): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = names.map((entry) => join(entry.parentPath, entry.name)).filter((name) => !name.endsWith('-shm'))
  return Object.fromEntries(files.map((name) => [name, createHash('sha256').update(readFileSync(name)).digest('hex')]))
}

function refusal(work: () => unknown): BatonError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(BatonError)
    expect((error as BatonError).message).toContain(path)
    expect((error as BatonError).hint).not.toBe('')
    return error as BatonError
  }
  throw new Error('it was not refused')
}

function expectUntouched(work: () => unknown): BatonError {
  const before = hashFiles()
  const error = refusal(work)
  expect(hashFiles()).toEqual(before)
  return error
}

/** Creates a store with one session, checkpointed into a single file. */
function makeStore(): void {
  const store = openStore(path)
  store.transaction(() => {
    store.putSession(sampleSession('s1'))
    for (let n = 0; n < 300; n++) {
      store.addEvent(readingEvent(sampleReading('s1', n)))
      store.addEvent(sampleEvent('reading', { data: { n, padding: 'x'.repeat(100) } }))
    }
  })
  store.close()
  settle()
}

function settle(): void {
  const db = openDatabase(path)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  rmSync(`${path}-wal`, { force: true })
  rmSync(`${path}-shm`, { force: true })
}

function setVersion(version: number): void {
  const db = openDatabase(path)
  db.exec(`PRAGMA user_version = ${version}`)
  db.close()
}

describe('creating a store', () => {
  test('a new store is in WAL mode and at the newest version', () => {
    openStore(path).close()
    const db = openDatabase(path)
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length })
    db.close()
  })

  test.each([0o000, 0o022, 0o077, 0o277])(
    'a new store and the files beside it are readable by their owner alone under umask %o',
    (umask) => {
      const own = join(folder, 'a', 'b', 'baton.db')
      const before = process.umask(umask)
      try {
        const store = openStore(own)
        store.addEvent(sampleEvent('reading'))
        const modes = Object.fromEntries(
          ['', '-wal', '-shm'].map((end) => [end, (statSync(`${own}${end}`).mode & 0o777).toString(8)]),
        )
        expect(modes).toEqual({ '': '600', '-wal': '600', '-shm': '600' })
        expect(statSync(dirname(own)).mode & 0o777).toBe(0o700)
        store.close()
      } finally {
        process.umask(before)
      }
    },
  )

  test('a new store does not change the mode of an existing folder', () => {
    chmodSync(folder, 0o755)
    openStore(path).close()
    expect(statSync(folder).mode & 0o777).toBe(0o755)
  })

  test('a new store is created in an empty file, which a killed process may have left', () => {
    writeFileSync(path, '')
    const store = openStore(path)
    store.putSession(sampleSession('s1'))
    expect(store.session('s1')).not.toBeNull()
    store.close()
  })
})

describe('migrations', () => {
  test.each(MIGRATIONS.map((_, version) => version))(
    'a store of version %i is migrated to the newest version',
    (version) => {
      const db = openDatabase(path)
      db.exec('PRAGMA journal_mode = WAL')
      for (const migration of MIGRATIONS.slice(0, version)) db.exec(migration)
      db.exec(`PRAGMA user_version = ${version}`)
      db.close()
      const store = openStore(path)
      store.putSession(sampleSession('s1'))
      expect(store.session('s1')).toEqual(sampleSession('s1'))
      store.close()
      const again = openDatabase(path)
      expect(again.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length })
      again.close()
    },
  )

  test('a store of a newer Baton is refused with its own exit code and not changed by a single byte', () => {
    makeStore()
    setVersion(MIGRATIONS.length + 1)
    settle()
    const error = expectUntouched(() => openStore(path))
    expect(error.exit).toBe(EXIT.refused)
    expect(error.message).toContain(`format ${MIGRATIONS.length + 1}`)
    expect(error.hint).toMatch(/update baton/i)
    expect(readdirSync(folder)).toEqual(['baton.db'])
  })

  test('a store whose newer version is only in its write-ahead log is refused', () => {
    makeStore()
    const newer = openDatabase(path)
    newer.exec(`PRAGMA user_version = 99`)
    const copy = join(folder, 'copy')
    mkdirSync(copy)
    for (const end of ['', '-wal']) cpSync(`${path}${end}`, join(copy, `baton.db${end}`))
    newer.close()
    path = join(copy, 'baton.db')
    expect(refusal(() => openStore(path)).message).toContain('newer version')
    const db = openDatabase(path)
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 })
    db.close()
  })

  test('a database of another program is refused and not changed', () => {
    const other = openDatabase(path)
    other.exec('CREATE TABLE sessions (name TEXT)')
    other.close()
    expect(expectUntouched(() => openStore(path)).message).toContain('another program')
    expect(readdirSync(folder)).toEqual(['baton.db'])
  })
})

describe('refusing a damaged store', () => {
  test.each([
    ['text', Buffer.from('This is not a database, it is a shopping list.\n'.repeat(100))],
    ['a few bytes', Buffer.from('SQLite')],
    ['zeros', Buffer.alloc(8192)],
    [
      'a header and nothing true behind it',
      Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8176, 0xff)]),
    ],
    ['a header alone', Buffer.from('SQLite format 3\0')],
  ])('a store file that contains %s is refused with an explanation and not changed', (_, bytes) => {
    writeFileSync(path, bytes)
    const error = expectUntouched(() => openStore(path))
    expect(error.message).toMatch(/damaged|newer/)
    expect(readdirSync(folder)).toEqual(['baton.db'])
  })

  test('a text file with the write-ahead log of another file is refused and not changed', () => {
    makeStore()
    const open = openStore(path)
    open.putSession(sampleSession('s2'))
    const log = readFileSync(`${path}-wal`)
    open.close()
    settle()
    expect(log.length).toBeGreaterThan(0)
    writeFileSync(path, 'a shopping list\n'.repeat(1000))
    writeFileSync(`${path}-wal`, log)
    expectUntouched(() => openStore(path))
  })

  test('an empty file with a write-ahead log that SQLite would discard is refused and not changed', () => {
    makeStore()
    const open = openStore(path)
    open.putSession(sampleSession('s2'))
    const log = readFileSync(`${path}-wal`)
    open.close()
    settle()
    writeFileSync(path, '')
    writeFileSync(`${path}-wal`, log)
    expectUntouched(() => openStore(path))
  })

  test.each([1, 50, 99, 100, 1000, 4095, 4096, 4097, 8192, 20_000])(
    'a store cut off after %i bytes is refused and not changed',
    (length) => {
      makeStore()
      expect(statSync(path).size).toBeGreaterThan(length)
      truncateSync(path, length)
      expectUntouched(() => openStore(path))
    },
  )

  test('a page overwritten in the middle is reported as damage when it is read, and other pages stay readable', () => {
    makeStore()
    const bytes = readFileSync(path)
    const pages = bytes.length / 4096
    // The first pages hold the list of tables; the last ones hold events.
    for (let page = pages - 10; page < pages; page++) bytes.fill(0xa5, page * 4096, (page + 1) * 4096)
    writeFileSync(path, bytes)
    const store = openStore(path)
    expect(store.session('s1')).toEqual(sampleSession('s1'))
    const error = refusal(() => store.events())
    expect(error.message).toContain('damaged')
    expect(refusal(() => store.transaction(() => store.events())).message).toContain('damaged')
    expect(store.session('s1')).toEqual(sampleSession('s1'))
    store.close()
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })
})

describe('a path that cannot be used', () => {
  test('a folder at the path of the store is refused with an explanation', () => {
    mkdirSync(path)
    expect(expectUntouched(() => openStore(path)).hint).toContain('BATON_HOME')
  })

  test('a pipe at the path of the store, where opening waits without end, is refused with an explanation', () => {
    execFileSync('mkfifo', [path])
    expect(expectUntouched(() => openStore(path)).hint).toContain('BATON_HOME')
  })

  test("a file at the path of the store's folder is refused with an explanation", () => {
    writeFileSync(join(folder, 'state'), 'mine')
    path = join(folder, 'state', 'baton.db')
    expect(expectUntouched(() => openStore(path)).hint).toContain('BATON_HOME')
  })

  test('a store that another process keeps locked is refused with an explanation', () => {
    makeStore()
    const holder = openDatabase(path)
    holder.exec('BEGIN IMMEDIATE')
    const store = openStore(path, { busyMs: 50 })
    expect(store.session('s1')).not.toBeNull()
    expect(refusal(() => store.transaction(() => {})).message).toContain('locked by another process')
    holder.exec('ROLLBACK')
    expect(store.transaction(() => 1)).toBe(1)
    holder.close()
    store.close()
  })
})

describe('storage limits, in a process of its own', () => {
  let child: string
  beforeAll(async () => {
    child = await bundleChild()
  })
  afterAll(() => rmSync(dirname(child), { recursive: true, force: true }))

  const canMount =
    spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' }).status === 0
  const isRoot = process.getuid?.() === 0

  /** Runs the steps on a file system of its own that disappears with the process. */
  function inMount(run: (what: string) => string): Record<string, unknown> {
    const steps = run('"$2" "$3" ').replaceAll('STORE', '"$1/baton.db"')
    const script = `mount -t tmpfs -o size=1m none "$1" && ${steps}`
    const done = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, child], {
      encoding: 'utf8',
    })
    expect(done.stderr).toBe('')
    return JSON.parse(done.stdout) as Record<string, unknown>
  }

  test.skipIf(!canMount)(
    'a full disk fails a write with an explanation, loses nothing stored, and works again with free space',
    () => {
      const { full, opened, kept, after, counted } = inMount((child) => `${child} fill STORE`)
      expect(full).toMatchObject({ failed: true, name: 'BatonError', hint: expect.stringContaining('Free some space') })
      expect(opened).toMatchObject({
        failed: true,
        name: 'BatonError',
        hint: expect.stringContaining('Free some space'),
      })
      expect(kept).toBeGreaterThan(10)
      expect(after).toEqual({ failed: false })
      expect(counted).toBe((kept as number) + 1)
    },
  )

  test.skipIf(!canMount)('a store on a file system that became read-only is refused with an explanation', () => {
    const refused = { failed: true, name: 'BatonError', hint: expect.stringContaining('BATON_HOME') }
    const steps = (child: string) =>
      `${child} write STORE 1 >/dev/null; mount -o remount,ro "$1"; ${child} read-only STORE`
    expect(inMount(steps)).toEqual({
      opened: expect.objectContaining(refused),
      made: expect.objectContaining(refused),
    })
  })

  test.skipIf(!isRoot)('a store of another user, readable or not, is refused and not changed', () => {
    chmodSync(folder, 0o755)
    makeStore()
    for (const mode of [0o444, 0o600]) {
      chmodSync(path, mode)
      chownSync(path, 0, 0)
      const before = hashFiles()
      const options = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const
      const run = spawnSync(process.execPath, [child, 'as-other-user', path], options)
      expect(run.stderr).toBe('')
      expect(JSON.parse(run.stdout)).toMatchObject({ opened: { failed: true, name: 'BatonError' } })
      expect(hashFiles()).toEqual(before)
      expect(existsSync(`${path}-wal`)).toBe(false)
    }
  })
})
