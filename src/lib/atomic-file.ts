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
import { codeOf } from './errors.js'
import { readNamedFile } from './named-file.js'
import { isRunning } from './process-info.js'

/** The file is no longer what the writer had read: somebody else wrote it meanwhile, and nothing was touched. */
export class FileChanged extends Error {
  constructor(readonly path: string) {
    super(`${path} was changed by another program`)
    this.name = 'FileChanged'
  }
}

interface AtomicWrite {
  /** Mode of the new file. Left out: that of the file being replaced, else 0600. */
  mode?: number
  /** What the file must still hold just before it is replaced; null: it must not exist. Left out: whatever is there. */
  expect?: Buffer | null
  /** Called between the steps; a test ends the process there. */
  step?: (name: string) => void
}

let count = 0
const TEMPORARY = /^\..+\.baton-(\d+)-\d+$/

/** Whether a file name is that of a file on its way to being renamed. */
export const isLeftover = (name: string) => TEMPORARY.test(name)

/** Readers see the old bytes or the new ones, never a mixture, also after a power cut. A symbolic link stays: its target is replaced. */
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
      linkSync(temp, target) // unlike rename, this refuses a file that has appeared meanwhile
      unlinkSync(temp)
    } else renameSync(temp, target)
  } catch (error) {
    removeQuietly(temp)
    throw codeOf(error) === 'EEXIST' && options.expect === null ? new FileChanged(path) : error
  }
  syncFolder(dirname(target))
}

/** Removes a file that still holds what was expected. */
export function removeFileIf(path: string, expect: Buffer): void {
  const target = realTarget(path)
  expectBytes(target, expect)
  unlinkSync(target)
  syncFolder(dirname(target))
}

/** Far above any settings file. */
const LARGEST_FILE = 64 * 1024 * 1024

/** The bytes, or null when there is no such file. Everything else that hinders reading is thrown. */
export function readIfThere(path: string): Buffer | null {
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_FILE })
  if (!('refused' in read) && !read.more) return read.bytes
  if (!('refused' in read)) throw new Error(`${path} is larger than 64 MB.`)
  if (read.code === 'ENOENT' || read.code === 'ENOTDIR') return null
  throw Object.assign(new Error(read.reason), read.code === null ? {} : { code: read.code })
}

/** Where a path really leads: every link followed, also when the last part, or a link's target, does not exist yet. */
export function realTarget(path: string, depth = 0): string {
  const full = resolve(path)
  try {
    return realpathSync.native(full)
  } catch (error) {
    if (depth > 40 || !['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return full
  }
  const parent = dirname(full) === full ? full : realTarget(dirname(full), depth + 1)
  const here = join(parent, basename(full))
  const leads = linkAt(here)
  return leads === null ? here : realTarget(resolve(parent, leads), depth + 1)
}

/** Temporary files in a folder whose writers were killed before they could rename them. */
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
    return // only root may give files away; the content matters more
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    return
  }
}

/** A rename is only for good once its folder is on the disk. */
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
