import { existsSync, readFileSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { errorCodeOf } from '../lib/errors.js'
import { makePrivateFolder } from '../lib/private-folder.js'

/**
 * Path of the list of folders that were made outside Baton's home, for their removal by a purge.
 */
export const foldersFile = (home: string): string => join(home, 'made-folders.json')

/** Returns the folder and those above it that do not exist yet, the uppermost first. */
export function missingFolders(folder: string): string[] {
  return existsSync(folder) || dirname(folder) === folder ? [] : [...missingFolders(dirname(folder)), folder]
}

/**
 * Adds folders to the record of folders that Baton made.
 * Call the function before the folders are made, while they are still missing.
 * `missing` is the result of `missingFolders`.
 */
export function rememberFolders(home: string, missing: readonly string[]): void {
  const known = rememberedFolders(home)
  const all = [...new Set([...known, ...missing])]
  if (all.length === known.length) return
  makePrivateFolder(home)
  writeFileAtomic(foldersFile(home), `${JSON.stringify(all)}\n`, { mode: 0o600 })
}

/** Returns the listed folders. Empty when there is no list or it cannot be read. */
export function rememberedFolders(home: string): string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(foldersFile(home), 'utf8'))
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Removes those folders that are empty, the innermost first. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder)
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) throw error
    }
  }
}
