import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { BatonError, codeOf, EXIT, reasonOf } from '../../lib/errors.js'
import { type Database, openDatabase } from './driver.js'
import { MIGRATIONS } from './migrations.js'

const BUSY_MS = 5_000

export interface OpenOptions {
  busyMs?: number
  /** How many pages may wait in the write-ahead log: a server that commits hundreds of times a second sets it high. */
  checkpointPages?: number
  /** Keep what was read until another process writes; for processes that live long. */
  remember?: boolean
}

/**
 * Opens the store and brings it up to this version. The file is never deleted, truncated or overwritten: one that is
 * damaged, newer or unreadable is refused with a sentence and stays as it is.
 */
export function openSqlite(path: string, options: OpenOptions = {}): Database {
  const fresh = !existsSync(path)
  try {
    if (fresh) makeFile(path)
    const db = openDatabase(path, { timeout: options.busyMs ?? BUSY_MS })
    try {
      prepareFile(db, path)
      if (options.checkpointPages) db.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw explain(error, path)
  }
}

function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
}

function prepareFile(db: Database, path: string): void {
  if (version(db) < MIGRATIONS.length) migrate(db)
  if (version(db) > MIGRATIONS.length) {
    throw new BatonError(
      `The store ${path} was written by a newer Baton (version ${version(db)}, this one knows ${MIGRATIONS.length}). It was not touched.`,
      'Update Baton (npm install -g baton-cli), or point BATON_HOME at another folder.',
      EXIT.refused,
    )
  }
  db.exec('PRAGMA synchronous = NORMAL')
}

function version(db: Database): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

function migrate(db: Database): void {
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('BEGIN IMMEDIATE')
  try {
    for (let next = version(db); next < MIGRATIONS.length; next++) db.exec(MIGRATIONS[next]!)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

function explain(error: unknown, path: string): BatonError {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  if (/not a database|malformed|corrupt|disk image/i.test(reason)) {
    return new BatonError(
      `The store ${path} is damaged (${reason}). It was left as it is.`,
      `Move it aside (mv '${path}' '${path}.damaged') and run the command again; a new store is made.`,
    )
  }
  if (/readonly|read-only|unable to open|permission/i.test(reason) || codeOf(error) === 'EACCES' || codeOf(error) === 'EROFS') {
    return new BatonError(
      `The store ${path} cannot be written (${reason}).`,
      'Check the owner and mode of the folder, or set BATON_HOME to a writable one.',
    )
  }
  if (/full|ENOSPC/i.test(reason) || codeOf(error) === 'ENOSPC') {
    return new BatonError(
      `No space is left for the store ${path} (${reason}).`,
      'Free some space; nothing that was stored is lost.',
    )
  }
  return new BatonError(`The store ${path} cannot be opened (${reason}).`, 'Run baton doctor to see what is wrong.')
}
