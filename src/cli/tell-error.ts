import { BatonError, codeOf, EXIT, reasonOf } from '../lib/errors.js'
import type { Paint } from './render/screen.js'

export interface Told {
  /** For standard error. */
  text: string
  exit: number
}

/** The one place where errors become sentences. With `--json` they are one line of JSON, also on standard error. */
export function tellError(error: unknown, json: boolean, paint: Paint): Told {
  const known = error instanceof BatonError ? error : unforeseen(error)
  if (json) {
    return {
      text: JSON.stringify({ error: known.message, hint: known.hint, code: known.exit, ...known.details }),
      exit: known.exit,
    }
  }
  return {
    text: `${paint('baton:', 'red')} ${known.message}${known.hint === '' ? '' : `\n       ${known.hint}`}`,
    exit: known.exit,
  }
}

function unforeseen(error: unknown): BatonError {
  const code = codeOf(error)
  if (code === 'ENOSPC')
    return new BatonError(
      `No space is left on the disk (${reasonOf(error)}).`,
      'Free some space and try again; nothing stored is lost.',
    )
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new BatonError(
      `Not allowed: ${reasonOf(error)}.`,
      'Check who owns the file, or set BATON_HOME to a folder of your own.',
    )
  }
  if (/database is locked|SQLITE_BUSY/i.test(reasonOf(error))) {
    return new BatonError('Another process keeps the store busy.', 'Try again in a moment.', EXIT.failed)
  }
  return new BatonError(reasonOf(error), 'That was not foreseen. The log says more (baton doctor names the file).')
}
