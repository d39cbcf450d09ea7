import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from './errors.js'

/** Makes a folder, and those above it that are missing, for the owner alone whatever the umask says. What is there stays as it is. */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    // A folder that is there and lets nothing be made in it, such as /proc, says ENOENT too.
    if (codeOf(error) !== 'ENOENT' || existsSync(dirname(path))) throw error
    makePrivateFolder(dirname(path))
    makePrivateFolder(path)
    return
  }
  chmodSync(path, 0o700)
}

/** The same, and one that is there is closed to others. Only for folders that are Baton's own. */
export function keepFolderPrivate(path: string): void {
  makePrivateFolder(path)
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700)
}
