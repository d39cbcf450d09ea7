import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { codeOf } from '../lib/errors.js'
import { LONGEST_PATH } from '../lib/git-folder.js'
import type { FileStamp } from './compiled.js'

export const PROJECT_FILE = 'baton.yaml'

/**
 * The project's configuration file for work in `start`: the nearest `baton.yaml` from there up to the root of the git
 * repository; outside a repository up to, not including, the home folder; elsewhere only in `start` itself, so that nobody's
 * file in a shared folder such as /tmp governs what others do below it. null: there is none.
 */
export function findProjectFile(start: string, userHome: string): string | null {
  if (!isAbsolute(start) || start.length > LONGEST_PATH) return null
  for (const folder of foldersToSearch(resolve(start), userHome)) {
    const path = join(folder, PROJECT_FILE)
    if (stampOf(path).exists) return path
  }
  return null
}

function foldersToSearch(start: string, userHome: string): string[] {
  const upward = [start]
  for (let folder = start; dirname(folder) !== folder; folder = dirname(folder)) upward.push(dirname(folder))
  const gitRoot = upward.findIndex((folder) => stampOf(join(folder, '.git')).exists)
  if (gitRoot >= 0) return upward.slice(0, gitRoot + 1)
  const below = relative(userHome, start)
  return below === '' || below.startsWith('..') ? [start] : upward.slice(0, below.split('/').length)
}

export interface Stamp extends FileStamp {
  /** Changes whenever the file may have changed: more than the time of writing, which tools can set back. */
  mark: string
}

/** No file can be at such a path: a parent is a file, a name is too long, or it holds a NUL. */
const IMPOSSIBLE = ['ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

/** What cannot be looked at is not the same as absent: it exists, and reading it will say what is wrong. */
export function stampOf(path: string): Stamp {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return absent(path)
    const { mtimeMs, size, ino, ctimeMs } = stat
    return { path, exists: true, mtimeMs, size, mark: `${ino}:${mtimeMs}:${ctimeMs}:${size}` }
  } catch (error) {
    if (IMPOSSIBLE.includes(codeOf(error) ?? '')) return absent(path)
    return { path, exists: true, mtimeMs: 0, size: 0, mark: `error:${codeOf(error)}` }
  }
}

function absent(path: string): Stamp {
  return { path, exists: false, mtimeMs: 0, size: 0, mark: 'absent' }
}
