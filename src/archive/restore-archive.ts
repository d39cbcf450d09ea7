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
import { BatonError, EXIT, errorCodeOf } from '../lib/errors.js'
import { type Blocks, DamagedArchive } from './blocks.js'
import { newSha256 } from './write-segment.js'

interface RestoreRequest {
  part: ArchivePart
  /** Segments (stored byte ranges) of the transcript's stream, in order. */
  segments: readonly SegmentRecord[]
  to: string
  /** True to replace an existing file. */
  force: boolean
  progress?(bytes: number): void
  /**
   * Transforms the text while it is written. The hash is still checked against the archived bytes.
   */
  through?: LineTransform
}

export interface LineTransform {
  /** Accepts any piece of the transcript, not necessarily whole lines. */
  take(bytes: Buffer): Buffer
  end(): Buffer
}

/**
 * Writes one archived transcript to a file that only its owner can read.
 * The restored file appears under its name complete and verified, or not at all.
 */
export function restoreArchive(blocks: Blocks, { part, segments, to, force, progress, through }: RestoreRequest): void {
  const there = statTarget(to)
  if (there?.isDirectory()) throw new BatonError(`${to} is a folder.`, 'Give the path of a file.', EXIT.usage)
  if (there && !force) throw existsError(to)
  // A fixed name is used, because the target's own name may already have the maximum length.
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
    if (error instanceof DamagedArchive) throw damagedError(error)
    if (error instanceof BatonError) throw error
    throw errorCodeOf(error) === 'EEXIST' ? existsError(to) : unwritable(to, error)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Passes the bytes of an archived transcript in order. Throws DamagedArchive when they differ. */
function unpackPart(
  blocks: Blocks,
  { bytes, sha256 }: ArchivePart,
  segments: readonly SegmentRecord[],
  visit: (raw: Buffer) => void,
): void {
  const hash = newSha256()
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
    throw new DamagedArchive(
      segments.at(-1)?.file ?? 'its file',
      'missing',
      `bytes from ${at} on are missing from all files`,
    )
  if (hash.digest('hex') !== sha256)
    throw new DamagedArchive(
      segments.at(-1)?.file ?? 'its file',
      'damaged',
      'its unpacked content differs from what was archived',
    )
}

function statTarget(to: string): Stats | undefined {
  try {
    return statSync(to, { throwIfNoEntry: false })
  } catch (error) {
    throw unwritable(to, error)
  }
}

function unwritable(to: string, error: unknown): unknown {
  const folder = dirname(to)
  const code = errorCodeOf(error)
  if (code === undefined || code.startsWith('ERR_')) return error
  switch (code) {
    case 'ENOENT':
      // In /proc and similar folders, the folder exists but files cannot be created.
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return notWritable(to, code)
      return new BatonError(
        `The folder ${folder} does not exist.`,
        `Run mkdir -p '${folder}', or choose another file.`,
        EXIT.notFound,
      )
    case 'ENOTDIR':
      return new BatonError(
        `Cannot write ${to}: ${folder} is not a folder.`,
        'Choose a file in another folder.',
        EXIT.usage,
      )
    case 'ENAMETOOLONG':
      return new BatonError(`The file name ${short(basename(to))} is too long.`, 'Choose a shorter name.', EXIT.usage)
    case 'ENOSPC':
    case 'EDQUOT':
      return new BatonError(
        `Cannot write ${to}: no space is left on the disk.`,
        'Free some space, or choose a file on another disk.',
      )
    default:
      return notWritable(to, code)
  }
}

const notWritable = (to: string, code: string): BatonError =>
  new BatonError(`Cannot write ${to} (${code}).`, 'Choose a file in a folder that you can write to.')

const short = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name)

function existsError(to: string): BatonError {
  return new BatonError(`${to} already exists.`, 'Choose another file, or add --force to replace it.', EXIT.refused)
}

function damagedError(error: DamagedArchive): BatonError {
  return new BatonError(
    `The archive cannot be unpacked: ${error.message}.`,
    'Run baton archive verify to see which archives are complete.',
  )
}
