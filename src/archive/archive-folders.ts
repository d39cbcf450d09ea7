import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Folders and files of the archives. */
export interface ArchivePaths {
  /** Folder of the archive files. */
  folder: string
  /**
   * Folder of hard links that protect transcripts until they are copied.
   * The folder must be on the same disk as `folder`. Otherwise no links are made.
   */
  links: string
  /**
   * Folder of record files: a copy of each kept archive's record, used by `baton archive adopt`.
   */
  records: string
  /** Path of the search index. It can be rebuilt from the archive files. */
  index: string
}

export function archivePaths(root: string): ArchivePaths {
  const folder = join(root, 'archive')
  return {
    folder,
    links: join(folder, 'pending'),
    records: join(folder, 'records'),
    index: join(root, 'archive-index.db'),
  }
}

/**
 * Creates a folder that only its owner can read, regardless of the umask. Throws when it cannot.
 */
export function ensureFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })) mkdirSync(path, { recursive: true, mode: 0o700 })
  if ((lstatSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700)
}
