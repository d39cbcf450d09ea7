import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { codeOf, reasonOf } from '../lib/errors.js'

const CHUNK = 64 * 1024
const ABSENT = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

export type FileBytes = { bytes: Buffer; more: boolean } | { refused: 'missing' | 'not-a-file' | 'unreadable'; reason: string }

/**
 * The first bytes of a file; `more`: it is longer. Links are followed. Only what is a file is opened at all: a pipe would keep us waiting, and
 * some devices act on being opened.
 */
export function readFile(path: string, most: number): FileBytes {
  let fd: number | undefined
  try {
    const other = whatElse(statSync(path))
    if (other) return { refused: 'not-a-file', reason: `${path} is ${other}, not a file.` }
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const since = whatElse(fstatSync(fd))
    if (since) return { refused: 'not-a-file', reason: `${path} is ${since}, not a file.` }
    return readUpTo(fd, most)
  } catch (error) {
    if (ABSENT.includes(codeOf(error) ?? '')) return { refused: 'missing', reason: `There is no file ${path}.` }
    return { refused: 'unreadable', reason: `${path} cannot be read (${reasonOf(error)}).` }
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function readUpTo(fd: number, most: number): { bytes: Buffer; more: boolean } {
  const parts: Buffer[] = []
  let length = 0
  // One byte too many tells that there is more; the size a file says it has need not be true.
  while (length <= most) {
    const room = Buffer.allocUnsafe(Math.min(CHUNK, most + 1 - length))
    const got = readSync(fd, room, 0, room.length, null)
    if (got === 0) break
    parts.push(room.subarray(0, got))
    length += got
  }
  const bytes = Buffer.concat(parts)
  return { bytes: bytes.subarray(0, most), more: length > most }
}

function whatElse(stats: Stats): string | null {
  if (stats.isFile()) return null
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}
