import { closeSync, lstatSync, readSync, realpathSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { errorCodeOf, reasonOf } from '../lib/errors.js'
import { type OpenedFile, openNamedFile, type RefusedFile } from '../lib/named-file.js'
import { shortHash } from './file-name.js'

const SAMPLE = 512

export type SourceState =
  | { ok: true; path: string; bytes: number; mark: string; writtenMs: number }
  /** `absent` is true when nothing exists at the path. */
  | { ok: false; absent: boolean; trouble: string }

/**
 * Checks the file at a transcript's path, in time independent of its size. Never throws.
 * Bytes beyond `most` are ignored.
 */
export function checkSource(path: string, most = Number.POSITIVE_INFINITY): SourceState {
  let fd: number | undefined
  try {
    const real = lstatSync(path).isSymbolicLink() ? resolveInFolder(path) : path
    if (real === null)
      return { ok: false, absent: false, trouble: 'the transcript is a symbolic link to another folder' }
    const opened = openSourceFile(real)
    if ('refused' in opened)
      return { ok: false, absent: opened.refused === 'missing', trouble: describeRefusedFile(opened) }
    fd = opened.fd
    const bytes = Math.min(most, opened.stats.size)
    return { ok: true, path: real, bytes, mark: fingerprintOf(fd, bytes), writtenMs: opened.stats.mtimeMs }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT' || errorCodeOf(error) === 'ENOTDIR')
      return { ok: false, absent: true, trouble: 'the transcript does not exist' }
    return {
      ok: false,
      absent: false,
      trouble: `the transcript cannot be read (${errorCodeOf(error) ?? reasonOf(error)})`,
    }
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Opens a transcript that belongs to this user, refusing a symlink that appeared meanwhile. */
export function openSourceFile(path: string): OpenedFile | RefusedFile {
  return openNamedFile(path, 'this-user', { links: 'refuse' })
}

export function describeRefusedFile({ refused, kind, code }: RefusedFile): string {
  switch (refused) {
    case 'missing':
      return 'the transcript does not exist'
    case 'not-a-file':
      return `the transcript is ${kind}`
    case 'other-owner':
      return 'the transcript belongs to another user'
    case 'unreadable':
      return `the transcript cannot be read (${code ?? 'unknown error'})`
  }
}

/**
 * Returns a short hash of the first and last planned bytes of a transcript.
 * These bytes contain the session's ids and times, so a rewritten transcript is detected.
 */
export function fingerprintOf(fd: number, bytes: number): string {
  const length = Math.min(SAMPLE, bytes)
  const sample = Buffer.alloc(2 * length)
  const got = readSync(fd, sample, 0, length, 0) + readSync(fd, sample, length, length, bytes - length)
  return got < sample.length ? 'short' : shortHash(sample)
}

/** Resolves a symbolic link. Null when it leads out of its folder. */
function resolveInFolder(path: string): string | null {
  const real = realpathSync(path)
  return real.startsWith(realpathSync(dirname(path)) + sep) ? real : null
}
