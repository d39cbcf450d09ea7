import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { isLeftover } from '../lib/atomic-file.js'
import { errorCodeOf } from '../lib/errors.js'
import { removeFolder } from '../lib/remove-folder.js'

export interface PurgeRules {
  /** Names directly in the home that Baton uses. Everything else there is the user's. */
  names: readonly string[]
  /**
   * Rules for folders that may hold a user's own files: whether Baton made the file at a path.
   * An empty folder is passed with a slash at its end.
   * A folder without a rule is removed whole.
   */
  owns: Readonly<Record<string, (path: string) => boolean>>
}

export interface NotPurged {
  path: string
  reason: string
}

const FOREIGN = 'not created by Baton'

/**
 * Removes all of Baton's files from its home, and the home itself when it becomes empty.
 * Returns the paths that stay.
 * `removed` is called before each removal, also in a dry run.
 * Deletes nothing behind a symbolic link, because its target may hold other files.
 * Files that `owns` recognises in a linked folder are deleted: users move archives to other disks.
 */
export function purgeHome(
  home: string,
  { names, owns }: PurgeRules,
  kept: ReadonlySet<string>,
  dryRun: boolean,
  removed: (path: string) => void = () => {},
): NotPurged[] {
  // Drop the slash at the end, which would make `lstat` follow a link.
  const root = resolve(home)
  if (isLink(root)) return removeLink(root, null, dryRun)
  const left: NotPurged[] = []
  for (const name of listed(root)) {
    const path = join(root, name)
    if (kept.has(path)) continue
    if (!names.includes(name) && !isLeftover(name)) left.push({ path, reason: FOREIGN })
    else if (owns[name] && statSync(path, { throwIfNoEntry: false })?.isDirectory())
      left.push(...purgeFolder(path, owns[name], { dryRun, removed }))
    else if (isLink(path)) left.push(...removeLink(path, root, dryRun))
    else {
      removed(path)
      if (!dryRun) removeFolder(path)
    }
  }
  if (!dryRun) removeIfEmpty(root)
  return left
}

/**
 * Removes a link and returns its target, which stays.
 * A target inside `home` is not returned, because it is judged by its own name.
 */
export function removeLink(path: string, home: string | null, dryRun: boolean): NotPurged[] {
  const target = existsSync(path) ? realpathSync(path) : null
  if (!dryRun) rmSync(path, { force: true })
  if (target === null || (home !== null && target.startsWith(realpathSync(home) + sep))) return []
  return [{ path: target, reason: `target of the symbolic link ${path}; a purge removes only the link` }]
}

/**
 * Removes the files that `owns` recognises, and folders that become empty.
 * Follows no link below `folder`.
 */
function purgeFolder(
  folder: string,
  owns: (path: string) => boolean,
  how: { dryRun: boolean; removed: (path: string) => void },
  below = '',
): NotPurged[] {
  const { dryRun, removed } = how
  const names = listed(folder)
  if (names.length === 0 && below !== '' && !owns(`${below}/`)) return [{ path: folder, reason: FOREIGN }]
  const left = names.flatMap((name): NotPurged[] => {
    const [path, inner] = [join(folder, name), below === '' ? name : `${below}/${name}`]
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return purgeFolder(path, owns, how, inner)
    if (!owns(inner) && !isLeftover(name)) return [{ path, reason: FOREIGN }]
    removed(path)
    if (!dryRun) rmSync(path, { force: true })
    return []
  })
  if (dryRun || left.length > 0) return left
  if (isLink(folder)) rmSync(folder, { force: true })
  else removeIfEmpty(folder)
  return left
}

export const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error
  }
}

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}
