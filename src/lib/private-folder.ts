import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCodeOf } from './errors.js'

/**
 * Creates a folder and its missing parents with mode 0700, whatever the umask.
 * An existing folder keeps its mode.
 */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    // ENOENT with an existing parent means that nothing can be created there, as in /proc.
    if (errorCodeOf(error) !== 'ENOENT' || existsSync(dirname(path))) throw error
    makePrivateFolder(dirname(path))
    makePrivateFolder(path)
    return
  }
  chmodSync(path, 0o700)
}

/**
 * Creates a private folder, and removes the access of others from an existing one.
 * Use the function only for folders that belong to Baton.
 */
export function keepFolderPrivate(path: string): void {
  makePrivateFolder(path)
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700)
}
