import { chmodSync, closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, reasonOf } from '../../lib/errors.js'
import { type Database, inTransaction, openSearchable, type Statement } from '../../store/sqlite/driver.js'
import { ensureFolder } from '../places.js'

/** What makes archives searchable. Everything in it can be made again from the archives. */
export interface Index {
  sql(text: string): Statement
  transaction<T>(work: () => T): T
  /** Gives back the room of what was deleted, and the words of it with it. */
  compact(): void
  /** It was made just now: nothing is in it yet. */
  readonly fresh: boolean
  close(): void
}

const BUSY_MS = 30_000
const VERSION = 1

/**
 * `entries`: one row for each thing said or done; `off` and `len` are the line's place in its stream, `nth` the entry's place in the line.
 * `spans`: which rows belong to which stream. `streams`: how far each is indexed; `open_line` is 1 when the last line had no end yet.
 */
const SCHEMA = `
  CREATE TABLE streams (stream TEXT PRIMARY KEY, bytes INTEGER NOT NULL, lines INTEGER NOT NULL, open_line INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE spans (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, stream TEXT NOT NULL);
  CREATE INDEX spans_by_stream ON spans (stream, first);
  CREATE TABLE entries (id INTEGER PRIMARY KEY, off INTEGER NOT NULL, len INTEGER NOT NULL, line INTEGER NOT NULL, kind INTEGER NOT NULL, nth INTEGER NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2");
  PRAGMA user_version = ${VERSION};
`

/** Throws when there is no place for it, or when SQLite lacks its full-text search. A damaged one is made again. */
export function openIndex(path: string): Index {
  const fresh = !isMade(path)
  try {
    return opened(path, fresh)
  } catch (error) {
    if (!/not a database|malformed|corrupt|index version/i.test(reasonOf(error))) throw error
    return made(path)
  }
}

/** The old file goes only when the new one is there: SQLite may still remember its locks by its inode, which a new file could get. */
function made(path: string): Index {
  const aside = `${path}.damaged`
  renameSync(path, aside)
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  try {
    return opened(path, true)
  } finally {
    rmSync(aside, { force: true })
  }
}

function isMade(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function opened(path: string, fresh: boolean): Index {
  ensureFolder(dirname(path))
  // Files beside it take over its mode; a umask would take bits away, or leave too many.
  closeSync(openSync(path, 'a', 0o600))
  if ((statSync(path).mode & 0o777) !== 0o600) chmodSync(path, 0o600)
  const db = openSearchable(path, { timeout: BUSY_MS })
  try {
    const made = prepare(db)
    return indexOf(db, fresh || made)
  } catch (error) {
    db.close()
    throw error
  }
}

/** True: its tables were made now. */
function prepare(db: Database): boolean {
  const version = (): number => (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  db.exec('PRAGMA cache_size = -32768; PRAGMA mmap_size = 1073741824; PRAGMA synchronous = NORMAL')
  const found = version()
  if (found === VERSION) return false
  if (found !== 0) throw new Error('index version')
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
  return inTransaction(db, () => {
    if (version() === VERSION) return false
    db.exec(SCHEMA)
    return true
  })
}

function indexOf(db: Database, fresh: boolean): Index {
  const prepared = new Map<string, Statement>()
  return {
    fresh,
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

/** What it takes on the disk; 0: there is none. */
export function indexBytes(path: string): number {
  return ['', '-wal'].reduce((sum, end) => {
    try {
      return sum + statSync(path + end).size
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return sum
      throw error
    }
  }, 0)
}
