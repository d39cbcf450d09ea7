import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { errorCodeOf } from '../lib/errors.js'
import { LONGEST_PATH } from '../lib/git-folder.js'
import type { FileStamp } from './compiled.js'

export const PROJECT_FILE = 'baton.yaml'

/**
 * Finds the project's configuration file for work in `start`. Null when there is none.
 * Searches for the nearest `baton.yaml` up to the root of the git repository.
 * Outside a repository it searches up to, but not in, the home folder.
 * Elsewhere it searches only `start`.
 * A file in a shared folder such as /tmp must not configure other users' work below it.
 */
export function findProjectFile(start: string, userHome: string): string | null {
  if (!isAbsolute(start) || start.length > LONGEST_PATH) return null
  for (const folder of foldersToSearch(resolve(start), userHome)) {
    const path = join(folder, PROJECT_FILE)
    if (fileStampOf(path).exists) return path
  }
  return null
}

function foldersToSearch(start: string, userHome: string): string[] {
  const upward = [start]
  for (let folder = start; dirname(folder) !== folder; folder = dirname(folder)) upward.push(dirname(folder))
  const gitRoot = upward.findIndex((folder) => fileStampOf(join(folder, '.git')).exists)
  if (gitRoot >= 0) return upward.slice(0, gitRoot + 1)
  const below = relative(userHome, start)
  return below === '' || below.startsWith('..') ? [start] : upward.slice(0, below.split('/').length)
}

/** The state of a file, to detect changes. */
interface Stamp extends FileStamp {
  /**
   * Changes whenever the file may have changed.
   * The time of writing alone is not enough, because tools can set it back.
   */
  mark: string
}

/**
 * Errors of paths at which no file can exist: a parent is a file, a name is too long, or has a NUL.
 */
const IMPOSSIBLE = ['ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

/**
 * Returns the state of a file.
 * An unreadable path counts as existing, so that reading it reports what is wrong.
 */
export function fileStampOf(path: string): Stamp {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return absent(path)
    const { mtimeMs, size, ino, ctimeMs } = stat
    return { path, exists: true, mtimeMs, size, mark: `${ino}:${mtimeMs}:${ctimeMs}:${size}` }
  } catch (error) {
    if (IMPOSSIBLE.includes(errorCodeOf(error) ?? '')) return absent(path)
    return { path, exists: true, mtimeMs: 0, size: 0, mark: `error:${errorCodeOf(error)}` }
  }
}

function absent(path: string): Stamp {
  return { path, exists: false, mtimeMs: 0, size: 0, mark: 'absent' }
}
