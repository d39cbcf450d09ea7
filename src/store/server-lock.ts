import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BatonError, errorCodeOf, reasonOf } from '../lib/errors.js'
import { makePrivateFolder } from '../lib/private-folder.js'
import { openDatabase } from './sqlite/driver.js'

/** Time to wait for the lock, longer than another command needs to check whether it is held. */
const WAIT_MS = 500
const SQLITE_BUSY = 5

export interface ServerLock {
  /**
   * False once the lock file was removed or replaced, as another server could lock the new file.
   */
  isCurrent(): boolean
  release(): void
}

export const lockFileOf = (serverFile: string): string => join(dirname(serverFile), 'server.lock')

/**
 * Takes the lock that the only server of a home holds while it runs. Null when it is held already.
 *
 * The lock is an open exclusive transaction on an empty SQLite database, thus a kernel file lock.
 * The kernel releases it when the process dies, and it works across pid namespaces, unlike a pid.
 * Opening and closing the file in this process would release the lock.
 * Therefore no other code may open the file.
 */
export function lockServer(serverFile: string): ServerLock | null {
  const file = lockFileOf(serverFile)
  try {
    makePrivateFolder(dirname(file))
    makeLockFile(file)
    const database = openDatabase(file, { timeout: WAIT_MS })
    try {
      database.exec('PRAGMA journal_mode = MEMORY')
      database.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      database.close()
      if (isBusy(error)) return null
      throw error
    }
    const { ino, dev } = statSync(file)
    const isCurrent = (): boolean => {
      const now = statSync(file, { throwIfNoEntry: false })
      return now?.ino === ino && now.dev === dev
    }
    return { isCurrent, release: () => database.close() }
  } catch (error) {
    throw new BatonError(
      `Cannot lock ${file} (${reasonOf(error)}).`,
      'Check the owner, mode and free space of its folder, or set BATON_HOME to a writable folder.',
    )
  }
}

/**
 * Creates the file with a private mode before SQLite does, as users who can read it could lock it.
 * An existing file is not opened, because closing it would release a lock of this process.
 */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
  if ((statSync(file).mode & 0o777) !== 0o600) chmodSync(file, 0o600)
}

/** True while some process holds the lock, so a server of this home runs. */
export function isServerLocked(serverFile: string): boolean {
  if (statSync(lockFileOf(serverFile), { throwIfNoEntry: false }) === undefined) return false
  const lock = lockServer(serverFile)
  lock?.release()
  return lock === null
}

const isBusy = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY
