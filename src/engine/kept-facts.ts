import { createHash } from 'node:crypto'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { FACTS_FORMAT, type FactsState } from '../facts/facts.js'
import { writeFileAtomic } from '../lib/atomic-file.js'

/** Where facts are kept between two looks at a transcript, and which program keeps them: another one's are read anew. */
export interface FactsPlace {
  folder: string
  program: string
}

/** How far a transcript was read, and everything remembered of it: reading goes on from here. */
export interface KeptFacts {
  offset: number
  lines: number
  /** Last line a compaction replaced; 0: none did. */
  sinceLine: number
  /** What the agent said last; null: nothing yet. */
  lastAnswer: string | null
  /** What the reader remembers. */
  reader: unknown
  facts: FactsState
}

/** A transcript is known again by its file, its beginning and what stands right before the place that was reached. */
interface Head {
  format: string
  transcript: string
  inode: number
  offset: number
  ends: string
  /** Of the bytes that follow. */
  sha256: string
}

/** Of a longer state nothing is kept: such a transcript is read whole each time. */
const LONGEST = 32 * 1024 * 1024
const LONGEST_HEAD = 8 * 1024
const END = 4096

/** null: nothing is kept of this session, or not of this transcript as it is now, or it cannot be read. */
export function loadFacts(place: FactsPlace, sessionId: string, transcript: string): KeptFacts | null {
  try {
    const bytes = readFileSync(fileOf(place, sessionId))
    const cut = bytes.subarray(0, LONGEST_HEAD).indexOf(10)
    const head = JSON.parse(bytes.toString('utf8', 0, Math.max(0, cut))) as Head
    if (head.format !== formatOf(place) || head.transcript !== transcript || !isSame(head, transcript)) return null
    const state = bytes.subarray(cut + 1)
    return sha256(state) === head.sha256 ? { ...(deserialize(state) as KeptFacts), offset: head.offset } : null
  } catch {
    return null
  }
}

/** How far the facts that are kept reach; 0: none are that could be used. Looks at a few bytes only. */
export function keptOffset(place: FactsPlace, sessionId: string, transcript: string): number {
  let fd: number
  try {
    fd = openSync(fileOf(place, sessionId), 'r')
  } catch {
    return 0
  }
  try {
    const bytes = Buffer.alloc(LONGEST_HEAD)
    const line = bytes.toString('utf8', 0, readSync(fd, bytes, 0, LONGEST_HEAD, 0)).split('\n', 1)[0]!
    const head = JSON.parse(line) as Head
    return head.format === formatOf(place) && head.transcript === transcript && isSame(head, transcript) ? head.offset : 0
  } catch {
    return 0
  } finally {
    closeSync(fd)
  }
}

/** The bytes of what is remembered now: taken at once, because whatever is read next changes it. null: there is too much of it. */
export function copyFacts(facts: KeptFacts): Buffer | null {
  const state = serialize(facts)
  return state.length > LONGEST ? null : state
}

/** Others see what was kept before, or this, never half of it. */
export function saveFacts(place: FactsPlace, sessionId: string, transcript: string, offset: number, state: Buffer): void {
  const seen = lookAt(transcript, offset)
  if (seen === null) return
  const head: Head = { format: formatOf(place), transcript, offset, ...seen, sha256: sha256(state) }
  mkdirSync(place.folder, { recursive: true, mode: 0o700 })
  writeFileAtomic(fileOf(place, sessionId), Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), state]), { mode: 0o600 })
}

export const hasFacts = (folder: string, sessionId: string): boolean => existsSync(fileOf({ folder }, sessionId))

/** What was kept of a session is quoted from its transcript. */
export function forgetFacts(folder: string, sessionId: string): void {
  rmSync(fileOf({ folder }, sessionId), { force: true })
}

const formatOf = ({ program }: FactsPlace): string => `1 ${FACTS_FORMAT} ${program}`

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** An id is a file's name, unless it could be the name of another place. */
function fileOf({ folder }: Pick<FactsPlace, 'folder'>, sessionId: string): string {
  return join(folder, /^\w[\w-]{0,127}$/.test(sessionId) ? sessionId : sha256(sessionId))
}

function isSame(head: Head, transcript: string): boolean {
  const seen = lookAt(transcript, head.offset)
  return seen !== null && seen.inode === head.inode && seen.ends === head.ends
}

/** null: the transcript is gone, or shorter than that. */
function lookAt(transcript: string, offset: number): Pick<Head, 'inode' | 'ends'> | null {
  let fd: number
  try {
    fd = openSync(transcript, 'r')
  } catch {
    return null
  }
  try {
    const { size, ino } = fstatSync(fd)
    if (size < offset) return null
    const length = Math.min(END, offset)
    const bytes = Buffer.alloc(2 * length)
    const got = readSync(fd, bytes, 0, length, 0) + readSync(fd, bytes, length, length, offset - length)
    return got < bytes.length ? null : { inode: ino, ends: sha256(bytes) }
  } finally {
    closeSync(fd)
  }
}
