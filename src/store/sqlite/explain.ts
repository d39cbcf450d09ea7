import { BatonError, codeOf, reasonOf } from '../../lib/errors.js'
import type { Database } from './driver.js'

const FULL = /database or disk is full|no space left|ENOSPC|EDQUOT|EFBIG/i
const READ_ONLY = /readonly|read-only|unable to open|permission denied|EACCES|EROFS|EPERM|EISDIR|ENOTDIR/i
const DAMAGED = /not a database|malformed|corrupt/i
const BUSY = /database (table )?is locked|database is busy/i

/** What is wrong with the place the store lies in, as a sentence and what to do. Errors of another kind come back as they are. */
export function explain(error: unknown, path: string): unknown {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  const said = `${reason} ${codeOf(error) ?? ''}`
  if (DAMAGED.test(said)) return damaged(path, reason)
  if (FULL.test(said))
    return new BatonError(
      `No space is left for the store ${path} (${reason}).`,
      'Free some space; nothing that was stored is lost.',
    )
  if (READ_ONLY.test(said))
    return new BatonError(
      `The store ${path} cannot be written (${reason}).`,
      'Check the owner and mode of the folder, or set BATON_HOME to a writable one.',
    )
  if (BUSY.test(said))
    return new BatonError(
      `The store ${path} is in use by another process that does not let go of it (${reason}).`,
      'Try again in a moment; if it lasts, end the process that holds it (fuser names it).',
    )
  if (/disk I\/O error/i.test(said))
    return new BatonError(
      `The store ${path} cannot be used (${reason}).`,
      'Check the disk and its free space; nothing that was stored is lost.',
    )
  return error
}

/**
 * Returns the steps to recover from a store that cannot be read. docs/archive.md lists what they do
 * not bring back.
 */
export const recoverStore = (path: string): string =>
  `Restore it from a backup, or: 1. Move it aside (mv '${path}' '${path}.damaged'). ` +
  '2. Run baton archive adopt: it takes the archives on the disk into a new store.'

export function damaged(path: string, reason: string): BatonError {
  return new BatonError(`The store ${path} is damaged (${reason}). It was left as it is.`, recoverStore(path))
}

/** The same database; what goes wrong while it is used is explained too. */
export function explained(db: Database, path: string): Database {
  const telling = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw explain(error, path)
    }
  }
  return {
    exec: (sql) => telling(() => db.exec(sql)),
    prepare(sql) {
      const statement = telling(() => db.prepare(sql))
      return {
        run: (...values) => telling(() => statement.run(...values)),
        get: (...values) => telling(() => statement.get(...values)),
        all: (...values) => telling(() => statement.all(...values)),
      }
    },
    close: () => db.close(),
  }
}
