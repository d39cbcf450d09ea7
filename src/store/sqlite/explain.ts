import { BatonError, errorCodeOf, reasonOf } from '../../lib/errors.js'
import { quoteForShell } from '../../lib/shell-words.js'
import type { Database } from './driver.js'

const FULL = /database or disk is full|no space left|ENOSPC|EDQUOT|EFBIG/i
const READ_ONLY = /readonly|read-only|unable to open|permission denied|EACCES|EROFS|EPERM|EISDIR|ENOTDIR/i
const DAMAGED = /not a database|malformed|corrupt/i
const BUSY = /database (table )?is locked|database is busy/i

/**
 * Turns a storage error into a sentence that says what is wrong and what to do.
 * Returns errors of any other kind unchanged.
 */
export function explainStoreError(error: unknown, path: string): unknown {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  const text = `${reason} ${errorCodeOf(error) ?? ''}`
  if (DAMAGED.test(text)) return damagedStoreError(path, reason)
  if (FULL.test(text))
    return new BatonError(
      `Cannot write the store ${path}: no space is left on the disk (${reason}).`,
      'Free some space and try again. No stored data is lost.',
    )
  if (READ_ONLY.test(text))
    return new BatonError(
      `The store ${path} is not writable (${reason}).`,
      'Check the owner and mode of its folder, or set BATON_HOME to a writable folder.',
    )
  if (BUSY.test(text))
    return new BatonError(
      `The store ${path} is locked by another process (${reason}).`,
      `Try again in a moment. If that does not help, run fuser ${quoteForShell(path)} to find the process and end it.`,
    )
  if (/disk I\/O error/i.test(text))
    return new BatonError(
      `The store ${path} cannot be used (${reason}).`,
      'Check the disk and its free space. No stored data is lost.',
    )
  return error
}

/**
 * Returns the steps to recover from an unreadable store.
 * docs/guides/archive.md lists the data that stays lost.
 */
export const recoverySteps = (path: string): string =>
  `Restore it from a backup, or: 1. Run mv ${quoteForShell(path)} ${quoteForShell(`${path}.damaged`)}. ` +
  '2. Run baton archive adopt to add the archives on disk to a new store.'

export function damagedStoreError(path: string, reason: string): BatonError {
  return new BatonError(`The store ${path} is damaged (${reason}). It is unchanged.`, recoverySteps(path))
}

/** Wraps a database so that its errors are explained by `explainStoreError`. */
export function withExplainedErrors(db: Database, path: string): Database {
  const rethrowExplained = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw explainStoreError(error, path)
    }
  }
  return {
    exec: (sql) => rethrowExplained(() => db.exec(sql)),
    prepare(sql) {
      const statement = rethrowExplained(() => db.prepare(sql))
      return {
        run: (...values) => rethrowExplained(() => statement.run(...values)),
        get: (...values) => rethrowExplained(() => statement.get(...values)),
        all: (...values) => rethrowExplained(() => statement.all(...values)),
      }
    },
    close: () => db.close(),
  }
}
