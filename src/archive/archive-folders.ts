import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where archives lie. */
export interface Places {
  /** Their files. */
  folder: string
  /** Hard links that hold on to transcripts until they are kept: on the same disk as the folder, or there are none. */
  links: string
  /**
   * Copies of the store's records of kept archives, one file each, from which `adopt` restores
   * them.
   */
  records: string
  /** What makes them searchable. It can be made again from the files. */
  index: string
}

export function archivePlaces(root: string): Places {
  const folder = join(root, 'archive')
  return {
    folder,
    links: join(folder, 'pending'),
    records: join(folder, 'records'),
    index: join(root, 'archive-index.db'),
  }
}

/** For the owner alone, whatever the umask says. Throws when it cannot be made. */
export function ensureFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })) mkdirSync(path, { recursive: true, mode: 0o700 })
  if ((lstatSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700)
}
