import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { writeFileAtomic } from './atomic-file.js'
import { openNamedFile } from './named-file.js'

/**
 * File that stores how far another file was read, so that reading can resume.
 * The other file (the source) only grows. There is one state file per name.
 */
export interface StateFile {
  folder: string
  name: string
  /** Version of the stored state. A state of another format is ignored. */
  format: string
}

/**
 * The stored header of a state file.
 * The source is recognised by its inode, its first bytes and the bytes before the offset.
 */
interface StateHeader {
  format: string
  source: string
  inode: number
  offset: number
  ends: string
  /** Hash of the state that follows the header. */
  sha256: string
}

/** Limit of the stored state in bytes. A larger one is not stored. */
const LONGEST = 32 * 1024 * 1024
const LONGEST_HEAD = 8 * 1024
const END = 4096

/**
 * Loads the stored reading state of a source file.
 * Null when there is none, the source was replaced since, or the state cannot be read.
 */
export function loadState(memory: StateFile, source: string): { offset: number; state: unknown } | null {
  try {
    const bytes = readFileSync(pathOf(memory))
    const cut = bytes.subarray(0, LONGEST_HEAD).indexOf(10)
    const head = JSON.parse(bytes.toString('utf8', 0, Math.max(0, cut))) as StateHeader
    if (!isSameSource(head, memory, source)) return null
    const state = bytes.subarray(cut + 1)
    return sha256(state) === head.sha256 ? { offset: head.offset, state: deserialize(state) } : null
  } catch {
    return null
  }
}

/**
 * Returns the stored offset by reading only the state's header. 0 when there is no usable state.
 */
export function loadOffset(memory: StateFile, source: string): number {
  let fd: number
  try {
    fd = openSync(pathOf(memory), 'r')
  } catch {
    return 0
  }
  try {
    const bytes = Buffer.alloc(LONGEST_HEAD)
    const line = bytes.toString('utf8', 0, readSync(fd, bytes, 0, LONGEST_HEAD, 0)).split('\n', 1)[0]!
    const head = JSON.parse(line) as StateHeader
    return isSameSource(head, memory, source) ? head.offset : 0
  } catch {
    return 0
  } finally {
    closeSync(fd)
  }
}

/** Serializes plain data with maps and sets. Null when the result is too large to store. */
export function serializeState(state: object): Buffer | null {
  const bytes = serialize(state)
  return bytes.length > LONGEST ? null : bytes
}

/** Stores the state atomically. Readers see the previous state or this one, never half of it. */
export function storeState(memory: StateFile, source: string, offset: number, state: Buffer): void {
  const seen = identifySource(source, offset)
  if (seen === null) return
  const head: StateHeader = { format: memory.format, source, offset, ...seen, sha256: sha256(state) }
  mkdirSync(memory.folder, { recursive: true, mode: 0o700 })
  writeFileAtomic(pathOf(memory), Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), state]), { mode: 0o600 })
}

export const hasState = (memory: Omit<StateFile, 'format'>): boolean => existsSync(pathOf(memory))

export function removeState(memory: Omit<StateFile, 'format'>): void {
  rmSync(pathOf(memory), { force: true })
}

/** Returns the size of a file. 0 when it does not exist. */
export const fileSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** Returns the path of a state file. A name that could lead to another folder is hashed. */
function pathOf({ folder, name }: Omit<StateFile, 'format'>): string {
  return join(folder, /^\w[\w-]{0,127}$/.test(name) ? name : sha256(name))
}

function isSameSource(head: StateHeader, { format }: StateFile, source: string): boolean {
  if (head.format !== format || head.source !== source) return false
  const seen = identifySource(source, head.offset)
  return seen !== null && seen.inode === head.inode && seen.ends === head.ends
}

/**
 * Reads inode and bytes that identify the source file.
 * Null when the source is gone or shorter than the offset.
 */
function identifySource(source: string, offset: number): Pick<StateHeader, 'inode' | 'ends'> | null {
  const opened = openNamedFile(source, 'this-user')
  if ('refused' in opened) return null
  const { fd, stats } = opened
  try {
    const { size, ino } = stats
    if (size < offset) return null
    const length = Math.min(END, offset)
    const bytes = Buffer.alloc(2 * length)
    const got = readSync(fd, bytes, 0, length, 0) + readSync(fd, bytes, length, length, offset - length)
    return got < bytes.length ? null : { inode: ino, ends: sha256(bytes) }
  } finally {
    closeSync(fd)
  }
}
