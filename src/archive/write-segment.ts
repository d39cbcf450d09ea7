import { createHash, type Hash } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { SegmentRecord } from '../contract/records/archive.js'
import { syncFolder } from '../lib/atomic-file.js'
import { faultPoint } from '../lib/fault-point.js'
import { ensureFolder } from './archive-folders.js'
import { makeBlocks } from './blocks.js'
import { temporaryName } from './temporary-files.js'

/** Size of a block: small enough to unpack one per search hit, large enough to compress well. */
export const BLOCK_BYTES = 256 * 1024
const QUALITY = 1

interface SegmentRequest {
  folder: string
  /** PID namespace of this process, part of temporary file names. */
  where: string
  /** File descriptor of the transcript. */
  source: number
  /** Hash of the stream's first `from` bytes. Updated here to cover `to` bytes. */
  hash: Hash
  segment: Pick<SegmentRecord, 'streamId' | 'sessionId' | 'name' | 'from' | 'to' | 'file'>
  progress?(bytes: number): void
  name?(give: () => void): void
}

/**
 * Compresses bytes [from, to) of a source into a file of its own.
 * Writes a temporary file, syncs it, reads it back, compares it, and only then renames it.
 * A process that is killed before the rename leaves only a temporary file.
 */
export function writeSegment({ folder, where, source, hash, segment, progress, name }: SegmentRequest): SegmentRecord {
  ensureFolder(folder)
  const temporary = temporaryName(segment.file, where)
  const before = hash.copy()
  try {
    const { blocks, storedBytes } = pack(join(folder, temporary), source, segment, hash, progress)
    const sha256 = hash.copy().digest('hex')
    const written: SegmentRecord = { ...segment, storedBytes, sha256, blocks, blockBytes: BLOCK_BYTES }
    makeBlocks(folder, 0).each({ ...written, file: temporary }, (bytes) => void before.update(bytes))
    if (before.digest('hex') !== sha256) throw new Error('the written file differs from the transcript')
    faultPoint('ARCHIVE_SEGMENT')
    const give = (): void => renameSync(join(folder, temporary), join(folder, segment.file))
    if (name) name(give)
    else give()
    syncFolder(folder)
    return written
  } finally {
    rmSync(join(folder, temporary), { force: true })
  }
}

function pack(
  path: string,
  source: number,
  { from, to }: { from: number; to: number },
  hash: Hash,
  progress: SegmentRequest['progress'],
): { blocks: number[]; storedBytes: number } {
  const fd = openSync(path, 'wx', 0o600)
  try {
    fchmodSync(fd, 0o600)
    const blocks: number[] = []
    let storedBytes = 0
    hashBytes(source, from, to, hash, (raw) => {
      const packed = brotliCompressSync(raw, {
        params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length },
      })
      for (let done = 0; done < packed.length; ) done += writeSync(fd, packed, done)
      blocks.push(packed.length)
      storedBytes += packed.length
      progress?.(raw.length)
    })
    fsyncSync(fd)
    return { blocks, storedBytes }
  } finally {
    closeSync(fd)
  }
}

/**
 * Updates a hash with bytes [from, to) of a file, block by block.
 * A block is valid only during the call of `visit`.
 */
export function hashBytes(
  fd: number,
  from: number,
  to: number,
  hash: Hash,
  visit: (raw: Buffer) => void = () => {},
): void {
  const room = Buffer.allocUnsafe(BLOCK_BYTES)
  for (let at = from; at < to; ) {
    const wanted = Math.min(BLOCK_BYTES, to - at)
    let got = 0
    while (got < wanted) {
      const more = readSync(fd, room, got, wanted - got, at + got)
      if (more === 0) throw new SourceChanged('the transcript became shorter before it was archived')
      got += more
    }
    const raw = room.subarray(0, wanted)
    hash.update(raw)
    visit(raw)
    at += wanted
  }
}

export const newSha256 = (): Hash => createHash('sha256')

/** Thrown when the transcript no longer matches the plan, so a retry cannot help. */
export class SourceChanged extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'SourceTrouble'
  }
}
