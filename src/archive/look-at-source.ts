import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs'
import { dirname, sep } from 'node:path'
import { codeOf, reasonOf } from '../lib/errors.js'
import { shortHash } from './short-hash.js'

const SAMPLE = 512

export type Looked =
  | { ok: true; path: string; bytes: number; mark: string }
  /** `absent`: there is nothing at all at that place. */
  | { ok: false; absent: boolean; trouble: string }

/** What lies where a transcript should, in time that does not depend on its size. `most`: bytes beyond it are not meant. Never throws. */
export function lookAtSource(path: string, most = Number.POSITIVE_INFINITY): Looked {
  let fd: number | undefined
  try {
    const real = lstatSync(path).isSymbolicLink() ? followed(path) : path
    if (real === null)
      return { ok: false, absent: false, trouble: 'the transcript is a symbolic link that leads out of its folder' }
    const kind = kindOf(lstatSync(real))
    if (kind !== null) return { ok: false, absent: false, trouble: `the transcript is ${kind}` }
    fd = openSource(real)
    const bytes = Math.min(most, fstatSync(fd).size)
    return { ok: true, path: real, bytes, mark: markOf(fd, bytes) }
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR')
      return { ok: false, absent: true, trouble: 'the transcript is not there' }
    return { ok: false, absent: false, trouble: `the transcript cannot be read (${codeOf(error) ?? reasonOf(error)})` }
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Never waits for the other end of a pipe and never follows a link that appeared meanwhile. */
export function openSource(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
}

/** The first and the last bytes of what is meant, in short: they name the session, its place in time and its ids. */
export function markOf(fd: number, bytes: number): string {
  const length = Math.min(SAMPLE, bytes)
  const sample = Buffer.alloc(2 * length)
  const got = readSync(fd, sample, 0, length, 0) + readSync(fd, sample, length, length, bytes - length)
  return got < sample.length ? 'short' : shortHash(sample)
}

/** null: it leads out of the folder it lies in. */
function followed(path: string): string | null {
  const real = realpathSync(path)
  return real.startsWith(realpathSync(dirname(path)) + sep) ? real : null
}

function kindOf(stat: Stats): string | null {
  if (stat.isFile()) return null
  return stat.isDirectory() ? 'a folder' : stat.isFIFO() ? 'a pipe' : stat.isSymbolicLink() ? 'a symbolic link' : 'no file'
}
