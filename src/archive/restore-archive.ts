import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ArchivePart, SegmentRecord } from '../contract/records/archive.js'
import { BatonError, codeOf, EXIT } from '../lib/errors.js'
import { type Blocks, DamagedArchive } from './blocks.js'
import { newHash } from './write-segment.js'

interface RestoreRequest {
  part: ArchivePart
  /** Those of its stream, in order. */
  segments: readonly SegmentRecord[]
  to: string
  /** Replace a file that is there. */
  force: boolean
  progress?(bytes: number): void
  /** Changes the lines on their way out; the hash is that of what was kept all the same. */
  through?: Lines
}

export interface Lines {
  /** Any piece of the transcript, not cut at line ends. */
  take(bytes: Buffer): Buffer
  end(): Buffer
}

/** Writes one kept transcript to a file of its owner's alone. It appears under its name whole and proven, or not at all. */
export function restoreArchive(blocks: Blocks, { part, segments, to, force, progress, through }: RestoreRequest): void {
  const there = lookAt(to)
  if (there?.isDirectory())
    throw new BatonError(`${to} is a folder.`, 'Name the file that is to be written.', EXIT.usage)
  if (there && !force) throw exists(to)
  // Not made from the file's own name, which may be as long as a name can be.
  const temporary = join(dirname(to), `.restored.baton-${process.pid}-${Date.now()}`)
  try {
    const fd = openSync(temporary, 'wx', 0o600)
    try {
      fchmodSync(fd, 0o600)
      const write = (bytes: Buffer): void => {
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
      }
      unpackPart(blocks, part, segments, (raw) => {
        write(through ? through.take(raw) : raw)
        progress?.(raw.length)
      })
      if (through) write(through.end())
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    if (force) renameSync(temporary, to)
    else linkSync(temporary, to) // unlike a rename, this refuses a file that has appeared meanwhile
  } catch (error) {
    if (error instanceof DamagedArchive) throw damaged(error)
    if (error instanceof BatonError) throw error
    throw codeOf(error) === 'EEXIST' ? exists(to) : unwritable(to, error)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** The bytes of a kept transcript, in order; throws DamagedArchive when they are not those that were kept. */
function unpackPart(
  blocks: Blocks,
  { bytes, sha256 }: ArchivePart,
  segments: readonly SegmentRecord[],
  visit: (raw: Buffer) => void,
): void {
  const hash = newHash()
  let at = 0
  for (const segment of segments) {
    if (segment.from >= bytes) break
    if (segment.from !== at) break
    blocks.each(segment, (raw) => {
      const wanted = raw.subarray(0, Math.max(0, bytes - at))
      hash.update(wanted)
      visit(wanted)
      at += raw.length
    })
  }
  if (at < bytes)
    throw new DamagedArchive(segments.at(-1)?.file ?? 'its file', 'missing', `bytes from ${at} on are in no file`)
  if (hash.digest('hex') !== sha256)
    throw new DamagedArchive(
      segments.at(-1)?.file ?? 'its file',
      'damaged',
      'it unpacks to something else than was kept',
    )
}

function lookAt(to: string): Stats | undefined {
  try {
    return statSync(to, { throwIfNoEntry: false })
  } catch (error) {
    throw unwritable(to, error)
  }
}

function unwritable(to: string, error: unknown): unknown {
  const folder = dirname(to)
  const code = codeOf(error)
  if (code === undefined || code.startsWith('ERR_')) return error
  switch (code) {
    case 'ENOENT':
      // In /proc and the like the folder is there, and files in it cannot be made.
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return notWritable(to, code)
      return new BatonError(
        `The folder ${folder} does not exist.`,
        'Make it first, or name a file elsewhere.',
        EXIT.notFound,
      )
    case 'ENOTDIR':
      return new BatonError(
        `${folder} is no folder, so no file can be made in it.`,
        'Name a file in a folder.',
        EXIT.usage,
      )
    case 'ENAMETOOLONG':
      return new BatonError(`The name ${short(basename(to))} is too long.`, 'Name the file more briefly.', EXIT.usage)
    case 'ENOSPC':
    case 'EDQUOT':
      return new BatonError(
        `No space is left on the disk for ${to}.`,
        'Free some space, or name a file on another disk.',
      )
    default:
      return notWritable(to, code)
  }
}

const notWritable = (to: string, code: string): BatonError =>
  new BatonError(`${to} cannot be written (${code}).`, 'Name a file in a folder you may write to.')

const short = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name)

function exists(to: string): BatonError {
  return new BatonError(`${to} is already there.`, 'Name another file, or replace it with --force.', EXIT.refused)
}

function damaged(error: DamagedArchive): BatonError {
  return new BatonError(
    `The archive cannot be unpacked: ${error.message}.`,
    'baton archive verify tells which archives are whole.',
  )
}
