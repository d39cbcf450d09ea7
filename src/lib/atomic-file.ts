import {
  chownSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorCodeOf } from './errors.js'
import { readNamedFile } from './named-file.js'
import { isRunning } from './process-info.js'

/** Thrown when another program changed a file since it was read. Nothing was written. */
export class FileChanged extends Error {
  constructor(readonly path: string) {
    super(`${path} was changed by another program`)
    this.name = 'FileChanged'
  }
}

/** Options of an atomic write. */
interface AtomicWrite {
  /** Mode of the new file. Absent: the mode of the replaced file, or 0600. */
  mode?: number
  /**
   * Content that the file must still have just before it is replaced. Null: it must not exist.
   * Absent to replace any content.
   */
  expect?: Buffer | null
  /** Called between the steps, so that a test can kill the process there. */
  step?: (name: string) => void
}

let count = 0
const TEMPORARY = /^\..+\.baton-(\d+)-\d+$/

/** Returns true for the name of a temporary file that was not renamed yet. */
export const isLeftover = (name: string) => TEMPORARY.test(name)

/**
 * Writes a file so that readers see the old or the new bytes, never a mix, even after a power cut.
 * A symbolic link is kept, and its target is replaced.
 */
export function writeFileAtomic(path: string, bytes: Buffer | string, options: AtomicWrite = {}): void {
  const target = realTarget(path)
  const before = statOf(target)
  const temp = join(dirname(target), `.${basename(target)}.baton-${process.pid}-${++count}`)
  const step = options.step ?? (() => {})
  try {
    writeTemp(
      temp,
      typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
      options.mode ?? (before ? before.mode & 0o7777 : 0o600),
    )
    if (before && (before.uid !== process.getuid?.() || before.gid !== process.getgid?.())) keepOwner(temp, before)
    step('temporary file written')
    if (options.expect !== undefined) expectBytes(target, options.expect)
    if (options.expect === null) {
      linkSync(temp, target) // unlike rename, link fails if the file was created meanwhile
      unlinkSync(temp)
    } else renameSync(temp, target)
  } catch (error) {
    removeQuietly(temp)
    throw errorCodeOf(error) === 'EEXIST' && options.expect === null ? new FileChanged(path) : error
  }
  syncFolder(dirname(target))
}

/** Removes a file if it still has the expected content. Throws FileChanged otherwise. */
export function removeFileIf(path: string, expect: Buffer): void {
  const target = realTarget(path)
  expectBytes(target, expect)
  unlinkSync(target)
  syncFolder(dirname(target))
}

/** Limit far above the size of any settings file. */
const LARGEST_FILE = 64 * 1024 * 1024

/** Reads a file. Null when it does not exist; throws on every other failure. */
export function readIfThere(path: string): Buffer | null {
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_FILE })
  if (!('refused' in read) && !read.more) return read.bytes
  if (!('refused' in read)) throw new Error(`${path} is larger than 64 MB.`)
  if (read.code === 'ENOENT' || read.code === 'ENOTDIR') return null
  throw Object.assign(new Error(read.reason), read.code === null ? {} : { code: read.code })
}

/** Resolves all links in a path, also when the last part or a link's target does not exist yet. */
export function realTarget(path: string, depth = 0): string {
  const full = resolve(path)
  try {
    return realpathSync.native(full)
  } catch (error) {
    if (depth > 40 || !['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return full
  }
  const parent = dirname(full) === full ? full : realTarget(dirname(full), depth + 1)
  const here = join(parent, basename(full))
  const leads = linkAt(here)
  return leads === null ? here : realTarget(resolve(parent, leads), depth + 1)
}

/** Removes temporary files in a folder whose writers were killed before they could rename them. */
export function removeLeftovers(folder: string): void {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    return
  }
  for (const name of names) {
    const pid = TEMPORARY.exec(name)?.[1]
    if (pid && !isRunning(Number(pid))) removeQuietly(join(folder, name))
  }
}

function writeTemp(temp: string, bytes: Buffer, mode: number): void {
  const fd = openSync(temp, 'wx', 0o600)
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
    fchmodSync(fd, mode)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function expectBytes(target: string, expect: Buffer | null): void {
  const now = readIfThere(target)
  const same = expect === null ? now === null : now?.equals(expect) === true
  if (!same) throw new FileChanged(target)
}

function statOf(path: string) {
  return statSync(path, { throwIfNoEntry: false })
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function keepOwner(path: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    chownSync(path, uid, gid)
  } catch {
    return // only root may change the owner, and the content matters more
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    return
  }
}

/** Flushes a folder to disk, because a rename is durable only after that. */
export function syncFolder(folder: string): void {
  let fd: number | undefined
  try {
    fd = openSync(folder, 'r')
    fsyncSync(fd)
  } catch {
    return // some file systems cannot sync a folder
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
