import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { codeOf } from '../../lib/errors.js'

const MAGIC = 'SQLite format 3\0'
const LENGTH = 100
const PAGE_SIZE_AT = 16
const CHANGES_AT = 24
const PAGES_AT = 28
const VERSION_AT = 60
const PAGES_VALID_FOR_AT = 92

/** What the first bytes of a file say, before SQLite touches it or what lies beside it. */
export interface Header {
  empty: boolean
  sqlite: boolean
  /** The version as of the last checkpoint. */
  version: number
  /** Changes wait beside the file that were never brought into it. */
  waiting: boolean
  /** It is shorter than it says it is, and nothing beside it holds the rest. SQLite itself would open it. */
  cutOff: boolean
}

/** null: there is no such file. */
export function readHeader(path: string): Header | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  try {
    const bytes = Buffer.alloc(LENGTH)
    const got = readSync(fd, bytes, 0, LENGTH, 0)
    const waiting = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
    // Looked at last: a file without a log is never about to grow.
    const { size } = fstatSync(fd)
    return {
      empty: got === 0,
      sqlite: bytes.toString('latin1', 0, MAGIC.length) === MAGIC,
      version: bytes.readUInt32BE(VERSION_AT),
      waiting,
      cutOff: got < LENGTH || (!waiting && size < lengthTold(bytes)),
    }
  } finally {
    closeSync(fd)
  }
}

function lengthTold(header: Buffer): number {
  const counted = header.readUInt32BE(CHANGES_AT) === header.readUInt32BE(PAGES_VALID_FOR_AT)
  const pageSize = header.readUInt16BE(PAGE_SIZE_AT)
  return counted ? header.readUInt32BE(PAGES_AT) * (pageSize === 1 ? 65_536 : pageSize) : 0
}
