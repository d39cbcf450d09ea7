import { chmodSync, closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCodeOf, reasonOf } from '../../lib/errors.js'
import { type Database, inTransaction, openFullTextDatabase, type Statement } from '../../store/sqlite/driver.js'
import { ensureFolder } from '../archive-folders.js'

/** Search index of the archives. Everything in it can be rebuilt from the archives. */
export interface SearchIndex {
  sql(text: string): Statement
  transaction<T>(work: () => T): T
  /** Frees the space of deleted rows and erases their text from the file. */
  compact(): void
  /** False once another file, or none, is at its path: writes to it would be lost. */
  isCurrent(): boolean
  close(): void
}

const BUSY_MS = 30_000
/** SQLite error codes. */
const [GENERAL, CORRUPT, NOT_A_DATABASE] = [1, 11, 26]
const DAMAGED = /not a database|malformed|corrupt|invalid fts5 file format|vtable constructor failed|no such table/i
const VERSION = 2

/**
 * `entries`: one row per message, call or result.
 * `off` and `len` locate the line in its stream, `nth` the entry in its line.
 * `spans`: the rows that belong to a stream.
 * `streams`: how far a stream is indexed; `open_line` is 1 when its last line had no newline yet.
 */
const SCHEMA = `
  CREATE TABLE streams (stream TEXT
    PRIMARY KEY, bytes INTEGER NOT NULL, lines INTEGER NOT NULL, open_line INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE spans (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, stream TEXT NOT NULL);
  CREATE INDEX spans_by_stream ON spans (stream, first);
  CREATE TABLE entries (id INTEGER
    PRIMARY KEY, off INTEGER NOT NULL, len INTEGER NOT NULL, line INTEGER NOT NULL, kind INTEGER NOT NULL,
    nth INTEGER NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 2");
  PRAGMA user_version = ${VERSION};
`

/**
 * Opens the index.
 * Throws when it cannot be created, lacks full-text search, or is damaged (`isIndexDamage`).
 * Calls `onCreate` before it creates an index.
 * Otherwise a killed process could leave an empty index that others take for complete.
 */
export function openIndex(path: string, onCreate: () => void): SearchIndex {
  ensureFolder(dirname(path))
  // Opening a pipe waits for another program without end.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${path} is not a file`)
  // Set the mode explicitly: SQLite's own files inherit it, and the umask may change it.
  closeSync(openSync(path, 'a', 0o600))
  if ((statSync(path).mode & 0o777) !== 0o600) chmodSync(path, 0o600)
  const file = fileIdentity(path)
  const db = openFullTextDatabase(path, { timeout: BUSY_MS })
  try {
    prepare(db, onCreate)
    rmSync(asideOf(path), { force: true })
    return indexOf(db, () => file !== null && file === fileIdentity(path))
  } catch (error) {
    db.close()
    throw error
  }
}

/** True when an error means that the index must be rebuilt. */
export function isIndexDamage(error: unknown): boolean {
  if (error instanceof OtherVersion) return true
  if (errorCodeOf(error) !== 'ERR_SQLITE_ERROR') return false
  const code = Number((error as { errcode?: unknown }).errcode ?? GENERAL) & 0xff
  if (code === CORRUPT || code === NOT_A_DATABASE) return true
  return code === GENERAL && DAMAGED.test(reasonOf(error))
}

class OtherVersion extends Error {}

/**
 * Moves the index aside; it is deleted only once the new one exists.
 * SQLite may still hold locks by its inode, which a new file could reuse.
 */
export function moveIndexAside(path: string): void {
  renameSync(path, asideOf(path))
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
}

const asideOf = (path: string): string => `${path}.damaged`

/** Returns the identity of the file at a path. Null when there is none. */
export function fileIdentity(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat ? `${stat.dev} ${stat.ino}` : null
}

function prepare(db: Database, emptied: () => void): void {
  const version = (): number => (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  db.exec('PRAGMA cache_size = -32768; PRAGMA mmap_size = 1073741824; PRAGMA synchronous = NORMAL')
  const found = version()
  if (found === VERSION) return
  if (found !== 0) throw new OtherVersion(`its version is ${found}`)
  emptied()
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
  inTransaction(db, () => {
    if (version() !== VERSION) db.exec(SCHEMA)
  })
}

function indexOf(db: Database, isCurrent: () => boolean): SearchIndex {
  const prepared = new Map<string, Statement>()
  return {
    isCurrent,
    sql(text) {
      let statement = prepared.get(text)
      if (!statement) {
        statement = db.prepare(text)
        prepared.set(text, statement)
      }
      return statement
    },
    transaction: (work) => inTransaction(db, work),
    compact() {
      db.exec('PRAGMA secure_delete = ON')
      inTransaction(db, () => db.exec("INSERT INTO words (words) VALUES ('optimize')"))
      db.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)')
    },
    close() {
      prepared.clear()
      db.close()
    },
  }
}

/** Returns the size of the index on the disk, 0 without one. */
export function indexBytes(path: string): number {
  return ['', '-wal'].reduce((sum, end) => {
    try {
      return sum + statSync(path + end).size
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return sum
      throw error
    }
  }, 0)
}
