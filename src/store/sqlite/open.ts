import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { BatonError, EXIT, errorCodeOf, reasonOf } from '../../lib/errors.js'
import { quoteForShell } from '../../lib/shell-words.js'
import { type Database, inTransaction, openDatabase } from './driver.js'
import { damagedStoreError, explainStoreError, withExplainedErrors } from './explain.js'
import { MIGRATIONS } from './migrations.js'

const BUSY_MS = 5_000

export type QuoteEraser = Pick<typeof import('./forget-words.js'), 'eraseQuotes' | 'withoutQuotes'>

export interface OpenOptions {
  busyMs?: number
  /**
   * Pages that the write-ahead log may hold.
   * A server that commits hundreds of times a second sets a high number.
   */
  checkpointPages?: number
  /** Caches records until another process writes. Meant for long-lived processes. */
  cacheRecords?: boolean
  /**
   * Functions that erase quotes (`forget-words.ts`).
   * Hooks start without these functions to load less code.
   */
  quoteEraser?: QuoteEraser
  /** Receives errors thrown by `afterCommit` callbacks. */
  onAfterCommitError?: (error: unknown) => void
}

/**
 * Opens the store and migrates it to this version.
 * Never deletes, truncates or overwrites the file.
 * A damaged, newer, foreign or unreadable store is refused with an explanation.
 */
export function openSqlite(path: string, options: OpenOptions = {}): Database {
  try {
    checkFile(path)
    const db = openDatabase(path, { timeout: options.busyMs ?? BUSY_MS })
    try {
      prepareFile(db, path)
      if (options.checkpointPages) db.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`)
      return withExplainedErrors(db, path)
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    const explained = explainStoreError(error, path)
    if (explained instanceof BatonError) throw explained
    throw new BatonError(
      `The store ${path} cannot be opened (${reasonOf(error)}).`,
      'Run baton doctor to see what is wrong.',
    )
  }
}

const CHECKS = 6
const RETRY_MS = 40

/**
 * Checks the file before SQLite opens it, because SQLite may apply a foreign write-ahead log.
 * File and log are read one after the other, and another process may be creating the store.
 * Therefore only a problem that persists over several checks counts.
 */
function checkFile(path: string): void {
  for (let check = 1; ; check++) {
    const problem = findFileProblem(path)
    if (problem === null) return
    if (check === CHECKS) throw problem
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
  }
}

function findFileProblem(path: string): BatonError | null {
  // Opening a pipe waits for another program without end.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    return new BatonError(
      `The store ${path} is not a file.`,
      `Run mv ${quoteForShell(path)} ${quoteForShell(`${path}.old`)}, or set BATON_HOME to another folder.`,
    )
  const header = readHeader(path)
  if (header === null) {
    makeFile(path)
    return null
  }
  if (header.empty && header.waiting)
    return damagedStoreError(path, 'it is empty, but its -wal file has changes for it')
  if (header.empty) return null
  if (!header.sqlite) return damagedStoreError(path, 'file is not a database')
  if (header.cutOff) return damagedStoreError(path, 'it is truncated')
  return header.version > MIGRATIONS.length ? newerStoreError(path, header.version) : null
}

function makeFile(path: string): void {
  const folder = dirname(path)
  // The umask removes bits from requested modes, even the owner's own.
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700)
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
}

function prepareFile(db: Database, path: string): void {
  if (version(db) < MIGRATIONS.length) migrate(db, path)
  if (version(db) > MIGRATIONS.length) throw newerStoreError(path, version(db))
  db.exec('PRAGMA synchronous = NORMAL')
}

function newerStoreError(path: string, version: number): BatonError {
  return new BatonError(
    `The store ${path} belongs to a newer version of Baton ` +
      `(format ${version}; this version knows ${MIGRATIONS.length}). It is unchanged.`,
    'Run npm install -g baton-cli to update Baton, or set BATON_HOME to another folder.',
    EXIT.refused,
  )
}

function version(db: Database): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

function migrate(db: Database, path: string): void {
  refuseForeign(db, path)
  enableWal(db)
  inTransaction(db, () => {
    const from = version(db)
    // Another process, even one of a newer Baton, may have migrated the store first.
    if (from >= MIGRATIONS.length) return
    for (const migration of MIGRATIONS.slice(from)) db.exec(migration)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

const LOG_MS = 2_000

/**
 * Enables write-ahead logging, with retries: SQLite ignores its busy timeout here.
 * Two processes may create the store at the same time.
 */
function enableWal(db: Database): void {
  for (const end = Date.now() + LOG_MS; ; ) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!/locked|busy/i.test(reasonOf(error)) || Date.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS / 4)
    }
  }
}

/**
 * Refuses a database of another program, which has tables but no version.
 * Baton creates tables and version in one transaction.
 */
function refuseForeign(db: Database, path: string): void {
  const found = db.prepare(
    'SELECT count(*) AS tables, (SELECT user_version FROM pragma_user_version) AS version FROM sqlite_master',
  )
  const { tables, version } = found.get() as { tables: number; version: number }
  if (version > 0 || tables === 0) return
  throw new BatonError(
    `${path} is a database of another program. It is unchanged.`,
    'Set BATON_HOME to a folder that only Baton uses.',
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

/** The file's header, read before SQLite touches the file or its write-ahead log. */
interface Header {
  empty: boolean
  sqlite: boolean
  /** Schema version as of the last checkpoint. */
  version: number
  /** True when a write-ahead log beside the file holds changes. */
  waiting: boolean
  /**
   * True when the file is shorter than its header says and no log holds the rest.
   * SQLite itself would open such a file.
   */
  cutOff: boolean
}

/** Returns the header. Null when the file does not exist. */
function readHeader(path: string): Header | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
  try {
    const bytes = Buffer.alloc(LENGTH)
    const got = readSync(fd, bytes, 0, LENGTH, 0)
    const waiting = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
    // The size is read last, because a file without a write-ahead log cannot grow meanwhile.
    const { size } = fstatSync(fd)
    return {
      empty: got === 0,
      sqlite: bytes.toString('latin1', 0, MAGIC.length) === MAGIC,
      version: bytes.readUInt32BE(VERSION_AT),
      waiting,
      cutOff: got < LENGTH || (!waiting && size < expectedLength(bytes)),
    }
  } finally {
    closeSync(fd)
  }
}

function expectedLength(header: Buffer): number {
  const counted = header.readUInt32BE(CHANGES_AT) === header.readUInt32BE(PAGES_VALID_FOR_AT)
  const pageSize = header.readUInt16BE(PAGE_SIZE_AT)
  return counted ? header.readUInt32BE(PAGES_AT) * (pageSize === 1 ? 65_536 : pageSize) : 0
}
