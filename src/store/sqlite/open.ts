import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { BatonError, codeOf, EXIT, reasonOf } from '../../lib/errors.js'
import { type Database, inTransaction, openDatabase } from './driver.js'
import { damaged, explain, explained } from './explain.js'
import { MIGRATIONS } from './migrations.js'

const BUSY_MS = 5_000

export type Forgetting = Pick<typeof import('./forget-words.js'), 'forgetWords' | 'withoutQuotes'>

export interface OpenOptions {
  busyMs?: number
  /** How many pages may wait in the write-ahead log: a server that commits hundreds of times a second sets it high. */
  checkpointPages?: number
  /** Keep what was read until another process writes; for processes that live long. */
  remember?: boolean
  /** What forgets words (`forget-words.ts`), for commands that do: hooks start without it. */
  forgetting?: Forgetting
  /** Told of what goes wrong after a commit. */
  complain?: (error: unknown) => void
}

/**
 * Opens the store and brings it up to this version. The file is never deleted, truncated or overwritten: one that is
 * damaged, newer, foreign or unreadable is refused with a sentence and stays as it is.
 */
export function openSqlite(path: string, options: OpenOptions = {}): Database {
  try {
    lookFirst(path)
    const db = openDatabase(path, { timeout: options.busyMs ?? BUSY_MS })
    try {
      prepareFile(db, path)
      if (options.checkpointPages) db.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`)
      return explained(db, path)
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    const told = explain(error, path)
    if (told instanceof BatonError) throw told
    throw new BatonError(
      `The store ${path} cannot be opened (${reasonOf(error)}).`,
      'Run baton doctor to see what is wrong.',
    )
  }
}

const LOOKS = 6
const BETWEEN_MS = 40

/**
 * Before SQLite: when it lets go of a file it does not understand, it may still bring in the changes that lie beside it.
 * File and log are two looks, and another process may be making the store between them: only what stays wrong is wrong.
 */
function lookFirst(path: string): void {
  for (let look = 1; ; look++) {
    const wrong = troubleWith(path)
    if (wrong === null) return
    if (look === LOOKS) throw wrong
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_MS)
  }
}

function troubleWith(path: string): BatonError | null {
  const header = readHeader(path)
  if (header === null) {
    makeFile(path)
    return null
  }
  if (header.empty && header.waiting) return damaged(path, 'it is empty, but changes to it lie beside it')
  if (header.empty) return null
  if (!header.sqlite) return damaged(path, 'file is not a database')
  if (header.cutOff) return damaged(path, 'its end is missing')
  return header.version > MIGRATIONS.length ? newer(path, header.version) : null
}

function makeFile(path: string): void {
  const folder = dirname(path)
  // A umask takes bits away from the modes asked for, also the owner's own.
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700)
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
}

function prepareFile(db: Database, path: string): void {
  if (version(db) < MIGRATIONS.length) migrate(db, path)
  if (version(db) > MIGRATIONS.length) throw newer(path, version(db))
  db.exec('PRAGMA synchronous = NORMAL')
}

function newer(path: string, version: number): BatonError {
  return new BatonError(
    `The store ${path} was written by a newer Baton (version ${version}, this one knows ${MIGRATIONS.length}). It was not touched.`,
    'Update Baton (npm install -g baton-cli), or point BATON_HOME at another folder.',
    EXIT.refused,
  )
}

function version(db: Database): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

function migrate(db: Database, path: string): void {
  refuseForeign(db, path)
  useLog(db)
  inTransaction(db, () => {
    const from = version(db)
    // Another process, even of a newer Baton, may have been faster.
    if (from >= MIGRATIONS.length) return
    for (const migration of MIGRATIONS.slice(from)) db.exec(migration)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

const LOG_MS = 2_000

/** SQLite does not wait for others here, however long it was told to: two processes may be making the store at once. */
function useLog(db: Database): void {
  for (const end = Date.now() + LOG_MS; ; ) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!/locked|busy/i.test(reasonOf(error)) || Date.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_MS / 4)
    }
  }
}

/** Tables and version come into being in one transaction: tables without a version are another program's. */
function refuseForeign(db: Database, path: string): void {
  const found = db.prepare(
    'SELECT count(*) AS tables, (SELECT user_version FROM pragma_user_version) AS version FROM sqlite_master',
  )
  const { tables, version } = found.get() as { tables: number; version: number }
  if (version > 0 || tables === 0) return
  throw new BatonError(
    `${path} is a database of another program. It was not touched.`,
    'Point BATON_HOME at a folder of its own.',
    EXIT.refused,
  )
}

const MAGIC = 'SQLite format 3\0'
const LENGTH = 100
const PAGE_SIZE_AT = 16
const CHANGES_AT = 24
const PAGES_AT = 28
const VERSION_AT = 60
const PAGES_VALID_FOR_AT = 92

/** What the first bytes of a file say, before SQLite touches it or what lies beside it. */
interface Header {
  empty: boolean
  sqlite: boolean
  /** The version as of the last checkpoint. */
  version: number
  /** Changes wait beside the file that were never brought into it. */
  waiting: boolean
  /** It is shorter than it says it is, and nothing beside it holds the rest. SQLite itself would open it. */
  cutOff: boolean
}

/** null: there is no such file. */
function readHeader(path: string): Header | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  try {
    const bytes = Buffer.alloc(LENGTH)
    const got = readSync(fd, bytes, 0, LENGTH, 0)
    const waiting = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
    // Looked at last: a file without a log is never about to grow.
    const { size } = fstatSync(fd)
    return {
      empty: got === 0,
      sqlite: bytes.toString('latin1', 0, MAGIC.length) === MAGIC,
      version: bytes.readUInt32BE(VERSION_AT),
      waiting,
      cutOff: got < LENGTH || (!waiting && size < lengthTold(bytes)),
    }
  } finally {
    closeSync(fd)
  }
}

function lengthTold(header: Buffer): number {
  const counted = header.readUInt32BE(CHANGES_AT) === header.readUInt32BE(PAGES_VALID_FOR_AT)
  const pageSize = header.readUInt16BE(PAGE_SIZE_AT)
  return counted ? header.readUInt32BE(PAGES_AT) * (pageSize === 1 ? 65_536 : pageSize) : 0
}
