import { type Stats, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isOwnedBy, lookAtNamedFile, readNamedText } from './named-file.js'

/**
 * The folder in which git keeps a repository's state.
 * In a worktree or submodule, `.git` is a file that names this folder.
 */
interface GitFolder {
  path: string
  /**
   * False when another user owns the folder.
   * Git refuses such a repository too, unless the user lists it in `safe.directory`.
   */
  isOwn: boolean
}

/**
 * The longest path on Linux and macOS.
 * A longer path is not searched, because every parent folder would be checked.
 */
export const LONGEST_PATH = 4096
const LARGEST_FILE = 64 * 1024
/** Files that git reads completely before any other work. */
const READ_BY_GIT = ['HEAD', 'config', 'commondir', 'packed-refs', 'index']

/**
 * Finds the repository that contains a folder.
 * Null when there is none, or its HEAD is not a regular file.
 */
export function gitFolderOf(folder: string): GitFolder | null {
  if (!isAbsolute(folder) || folder.length > LONGEST_PATH) return null
  for (let at = folder; ; at = dirname(at)) {
    const found = gitFolderAt(join(at, '.git'))
    if (found !== null) return found
    if (at === dirname(at)) return null
  }
}

/**
 * Returns true when git would take a parent folder for a bare repository.
 * Git would use that folder's configuration. Git before 2.38 has no setting against that.
 */
export function isInsideBareRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (statOf(join(at, '.git')) !== null || at === dirname(at)) return false
    if (['HEAD', 'objects', 'refs'].every((name) => statOf(join(at, name)) !== null)) return true
  }
}

/** Reads HEAD of a repository. Null when it cannot be read. */
export function readHead({ path }: GitFolder): string | null {
  return readNamedText(join(path, 'HEAD'), { owner: 'anyone', most: LARGEST_FILE })
}

/**
 * True when each file that git reads first is a regular file, or is missing or unreadable.
 * Git would wait without end for a pipe, or fill the memory from a device.
 */
export function isReadableByGit({ path }: GitFolder): boolean {
  return READ_BY_GIT.every((name) => {
    const looked = lookAtNamedFile(join(path, name), 'anyone')
    return !('refused' in looked) || looked.refused !== 'not-a-file'
  })
}

function gitFolderAt(dotGit: string): GitFolder | null {
  const entry = statOf(dotGit)
  if (entry === null) return null
  const link = entry.isDirectory() ? null : linkIn(dotGit)
  if (!entry.isDirectory() && link === null) return null
  const path = link === null ? dotGit : resolve(dirname(dotGit), link)
  const folder = link === null ? entry : statOf(path)
  if (folder === null || 'refused' in lookAtNamedFile(join(path, 'HEAD'), 'anyone')) return null
  return { path, isOwn: isOwnedBy(entry, 'this-user') && isOwnedBy(folder, 'this-user') }
}

function linkIn(dotGit: string): string | null {
  const text = readNamedText(dotGit, { owner: 'anyone', most: LARGEST_FILE })
  return /^gitdir: (.+)$/m.exec(text ?? '')?.[1] ?? null
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}
