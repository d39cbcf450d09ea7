import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { writeFileAtomic } from './atomic-file.js'
import { openNamedFile } from './named-file.js'

/** What is remembered of a file that only grows, up to an offset, so that reading goes on there. One file of it a name. */
export interface Memory {
  folder: string
  name: string
  /** Of what is remembered: what has another one is not used. */
  format: string
}

/** The file is known again by its inode, its beginning and what stands right before the offset. */
interface Head {
  format: string
  source: string
  inode: number
  offset: number
  ends: string
  /** Of the bytes that follow. */
  sha256: string
}

/** More than this is not remembered. */
const LONGEST = 32 * 1024 * 1024
const LONGEST_HEAD = 8 * 1024
const END = 4096

/** null: nothing is remembered of this file as it is now, or it cannot be read. */
export function recall(memory: Memory, source: string): { offset: number; state: unknown } | null {
  try {
    const bytes = readFileSync(pathOf(memory))
    const cut = bytes.subarray(0, LONGEST_HEAD).indexOf(10)
    const head = JSON.parse(bytes.toString('utf8', 0, Math.max(0, cut))) as Head
    if (!isMeant(head, memory, source)) return null
    const state = bytes.subarray(cut + 1)
    return sha256(state) === head.sha256 ? { offset: head.offset, state: deserialize(state) } : null
  } catch {
    return null
  }
}

/** How far it reaches; 0: there is nothing that could be used. Looks at a few bytes only. */
export function recallOffset(memory: Memory, source: string): number {
  let fd: number
  try {
    fd = openSync(pathOf(memory), 'r')
  } catch {
    return 0
  }
  try {
    const bytes = Buffer.alloc(LONGEST_HEAD)
    const line = bytes.toString('utf8', 0, readSync(fd, bytes, 0, LONGEST_HEAD, 0)).split('\n', 1)[0]!
    const head = JSON.parse(line) as Head
    return isMeant(head, memory, source) ? head.offset : 0
  } catch {
    return 0
  } finally {
    closeSync(fd)
  }
}

/** A copy of plain data with maps and sets, as it is at this moment. null: there is too much of it. */
export function copyState(state: object): Buffer | null {
  const bytes = serialize(state)
  return bytes.length > LONGEST ? null : bytes
}

/** Others see what was remembered before, or this, never half of it. */
export function remember(memory: Memory, source: string, offset: number, state: Buffer): void {
  const seen = lookAt(source, offset)
  if (seen === null) return
  const head: Head = { format: memory.format, source, offset, ...seen, sha256: sha256(state) }
  mkdirSync(memory.folder, { recursive: true, mode: 0o700 })
  writeFileAtomic(pathOf(memory), Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), state]), { mode: 0o600 })
}

export const isRemembered = (memory: Omit<Memory, 'format'>): boolean => existsSync(pathOf(memory))

export function forget(memory: Omit<Memory, 'format'>): void {
  rmSync(pathOf(memory), { force: true })
}

/** 0: it is not there. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** A name that could lead to another place is not used as it is. */
function pathOf({ folder, name }: Omit<Memory, 'format'>): string {
  return join(folder, /^\w[\w-]{0,127}$/.test(name) ? name : sha256(name))
}

function isMeant(head: Head, { format }: Memory, source: string): boolean {
  if (head.format !== format || head.source !== source) return false
  const seen = lookAt(source, head.offset)
  return seen !== null && seen.inode === head.inode && seen.ends === head.ends
}

/** null: the file is gone, or shorter than that. */
function lookAt(source: string, offset: number): Pick<Head, 'inode' | 'ends'> | null {
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
