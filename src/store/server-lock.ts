import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BatonError, codeOf, reasonOf } from '../lib/errors.js'
import { makePrivateFolder } from '../lib/private-folder.js'
import { openDatabase } from './sqlite/driver.js'

/** Long enough to outlast another command that only looks whether the lock is held. */
const WAIT_MS = 500
const SQLITE_BUSY = 5

export interface ServerLock {
  /**
   * False once the lock file was removed or replaced: another server could then lock the new one.
   */
  isCurrent(): boolean
  release(): void
}

export const lockFileOf = (serverFile: string): string => join(dirname(serverFile), 'server.lock')

/**
 * Takes the lock that the one server of a home holds as long as it lives. Null when another process
 * holds it.
 *
 * The lock is an open exclusive transaction on an empty SQLite database, so it is a file lock of
 * the kernel: released when the process dies, however it dies, and valid across pid namespaces,
 * where a pid in a file means nothing. A process that opened and closed the file by itself would
 * release the lock, so nothing else may open it.
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
 * Makes the file before SQLite does, which would let others read it and so lock it against the
 * server. One that is there is not opened: closing it again would release a lock that this process
 * holds.
 */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
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
