import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  opendirSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { errorCodeOf, reasonOf } from './errors.js'

/**
 * Opens files whose path came from a signal, a transcript, a repository or another program.
 * Anything may be at such a path, so these rules apply:
 *
 * - Only regular files are opened. Opening a pipe waits for a writer, and some devices act on it.
 * - The open never waits (O_NONBLOCK).
 * - The descriptor is checked again, because the path may lead elsewhere by then.
 * - The owner is checked if the file must be this user's own, because root can read every file.
 * - At most as many bytes are read as the file had when it was opened.
 * - A growing file therefore cannot keep the reader busy.
 * - The endless files of /proc (`kmsg`, `self/mem`) have size 0, so nothing is read of them.
 *
 * A network file system that does not answer still blocks, because Node has no limit for that.
 */

/**
 * Owners whose files are accepted.
 *
 * this-user          transcripts and the files beside them
 * this-user-or-root  settings, which an administrator or a package manager may own
 * anyone             files in a project, which several users may share
 */
export type FileOwner = 'this-user' | 'this-user-or-root' | 'anyone'

/** Why a file was not opened. */
export interface RefusedFile {
  refused: 'missing' | 'not-a-file' | 'other-owner' | 'unreadable'
  /** Reason of the refusal: a sentence that names the file. */
  reason: string
  /**
   * The kind of entry found instead of a file, such as "a pipe".
   * Null when the path leads to a file or to nothing.
   */
  kind: string | null
  /** The system's error code. Null when a rule refused the file, or the error had no code. */
  code: string | null
}

/** A file that passed all checks. */
export interface OpenedFile {
  /** File descriptor. The caller closes it. */
  fd: number
  stats: Stats
}

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const MISSING = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']
const CHUNK = 64 * 1024

/**
 * Opens a file by the rules at the top of this file.
 * `links: 'refuse'`: the last part of the path must not be a symbolic link.
 */
export function openNamedFile(
  path: string,
  owner: FileOwner,
  options: { links?: 'follow' | 'refuse' } = {},
): OpenedFile | RefusedFile {
  let fd: number | null = null
  let opened: OpenedFile | null = null
  try {
    const looked = lookAtNamedFile(path, owner)
    if ('refused' in looked) return looked
    fd = openSync(path, options.links === 'refuse' ? FLAGS | constants.O_NOFOLLOW : FLAGS)
    const stats = fstatSync(fd)
    const refused = refusalOf(path, stats, owner)
    if (refused === null) opened = { fd, stats }
    return opened ?? refused!
  } catch (error) {
    return failure(path, error)
  } finally {
    if (fd !== null && opened === null) closeSync(fd)
  }
}

/** Checks a path by the rules at the top of this file, without opening the file. */
export function lookAtNamedFile(path: string, owner: FileOwner): Stats | RefusedFile {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats === undefined ? missing(path, 'ENOENT') : (refusalOf(path, stats, owner) ?? stats)
  } catch (error) {
    return failure(path, error)
  }
}

/** Returns the size of a file that may be opened. Null when it may not. */
export function sizeOfNamedFile(path: string, owner: FileOwner): number | null {
  const looked = lookAtNamedFile(path, owner)
  return 'refused' in looked ? null : looked.size
}

/** Reads the first `most` bytes of a file. `more` is true when the file is longer. */
export function readNamedFile(
  path: string,
  { owner, most }: { owner: FileOwner; most: number },
): { bytes: Buffer; more: boolean; stats: Stats } | RefusedFile {
  const opened = openNamedFile(path, owner)
  if ('refused' in opened) return opened
  const { fd, stats } = opened
  try {
    return { bytes: readUpTo(fd, Math.min(stats.size, most)), more: stats.size > most, stats }
  } catch (error) {
    return failure(path, error)
  } finally {
    closeSync(fd)
  }
}

/**
 * Reads the text of a small file. Null when it may not be opened or is longer than `most` bytes.
 */
export function readNamedText(path: string, limits: { owner: FileOwner; most: number }): string | null {
  const read = readNamedFile(path, limits)
  return 'refused' in read || read.more ? null : read.bytes.toString('utf8')
}

/**
 * Returns at most `most` names in a folder of this owner, sorted.
 * Empty when there is no such folder.
 * The limit is needed because a signal may name a folder with millions of entries.
 */
export function namesInFolder(path: string, most: number, owner: FileOwner = 'this-user'): string[] {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats?.isDirectory() || !isOwnedBy(stats, owner)) return []
    const folder = opendirSync(path, { bufferSize: 256 })
    try {
      const names: string[] = []
      for (let entry: Dirent | null; names.length < most; names.push(entry.name)) {
        entry = folder.readSync()
        if (entry === null) break
      }
      return names.sort()
    } finally {
      folder.closeSync()
    }
  } catch {
    return []
  }
}

export function isOwnedBy({ uid }: Pick<Stats, 'uid'>, owner: FileOwner): boolean {
  return owner === 'anyone' || uid === process.geteuid?.() || (owner === 'this-user-or-root' && uid === 0)
}

function readUpTo(fd: number, size: number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < size; ) {
    const room = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
    const got = readSync(fd, room, 0, room.length, at)
    if (got === 0) break
    parts.push(room.subarray(0, got))
    at += got
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

function refusalOf(path: string, stats: Stats, owner: FileOwner): RefusedFile | null {
  const kind = kindOf(stats)
  if (kind !== null) return { refused: 'not-a-file', reason: `${path} is ${kind}, not a file.`, kind, code: null }
  if (isOwnedBy(stats, owner)) return null
  return { refused: 'other-owner', reason: `${path} belongs to another user.`, kind: null, code: null }
}

function kindOf(stats: Stats): string | null {
  if (stats.isFile()) return null
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

function failure(path: string, error: unknown): RefusedFile {
  const code = errorCodeOf(error) ?? null
  if (MISSING.includes(code ?? '')) return missing(path, code)
  return { refused: 'unreadable', reason: `${path} cannot be read (${reasonOf(error)}).`, kind: null, code }
}

const missing = (path: string, code: string | null): RefusedFile => ({
  refused: 'missing',
  reason: `There is no file ${path}.`,
  kind: null,
  code,
})
