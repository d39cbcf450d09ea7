import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { SegmentRecord } from '../contract/records/archive.js'
import { errorCodeOf, reasonOf } from '../lib/errors.js'

/** Thrown when a file of an archive is missing or has the wrong content. */
export class DamagedArchive extends Error {
  constructor(
    readonly file: string,
    readonly problem: 'missing' | 'damaged',
    detail: string,
  ) {
    super(`${file}: ${detail}`)
    this.name = 'DamagedArchive'
  }
}

/** Reads ranges of streams without unpacking the rest, with a cache of recently unpacked blocks. */
export interface Blocks {
  /**
   * Returns bytes [from, to) of a stream (transcript bytes), given its segments in order.
   * Throws DamagedArchive.
   */
  read(segments: readonly SegmentRecord[], from: number, to: number): Buffer
  /** Unpacks one segment file block by block and passes the stream's bytes in order. */
  each(segment: SegmentRecord, visit: (bytes: Buffer) => void): void
}

export function makeBlocks(folder: string, mostBytes = 32 * 1024 * 1024): Blocks {
  const kept = new Map<string, Buffer>()
  let keptBytes = 0

  const block = (segment: SegmentRecord, at: number): Buffer => {
    const key = `${segment.file} ${at}`
    const known = kept.get(key)
    if (known) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    const fd = openSegment(folder, segment)
    try {
      const bytes = unpack(fd, segment, at, offsetOf(segment, at))
      kept.set(key, bytes)
      keptBytes += bytes.length
      for (const [oldest, { length }] of kept) {
        if (keptBytes <= mostBytes) break
        kept.delete(oldest)
        keptBytes -= length
      }
      return bytes
    } finally {
      closeSync(fd)
    }
  }

  return {
    read(segments, from, to) {
      const pieces: Buffer[] = []
      let at = from
      for (const segment of segments) {
        while (at < to && at >= segment.from && at < segment.to) {
          const index = Math.floor((at - segment.from) / segment.blockBytes)
          const start = segment.from + index * segment.blockBytes
          const bytes = block(segment, index).subarray(at - start, to - start)
          pieces.push(bytes)
          at += bytes.length
        }
      }
      if (at < to)
        throw new DamagedArchive(
          segments.at(-1)?.file ?? '',
          'missing',
          `bytes ${at} to ${to} are missing from all files`,
        )
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    },
    each(segment, visit) {
      const fd = openSegment(folder, segment)
      try {
        if (fstatSync(fd).size !== segment.storedBytes)
          throw new DamagedArchive(
            segment.file,
            'damaged',
            `it has ${fstatSync(fd).size} bytes instead of ${segment.storedBytes}`,
          )
        let offset = 0
        for (const [at, size] of segment.blocks.entries()) {
          visit(unpack(fd, segment, at, offset))
          offset += size
        }
      } finally {
        closeSync(fd)
      }
    },
  }
}

function offsetOf({ blocks }: SegmentRecord, at: number): number {
  let offset = 0
  for (let i = 0; i < at; i++) offset += blocks[i]!
  return offset
}

function openSegment(folder: string, { file }: SegmentRecord): number {
  try {
    return openSync(join(folder, file), constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') throw new DamagedArchive(file, 'missing', 'the file does not exist')
    throw new DamagedArchive(file, 'damaged', `the file cannot be read (${errorCodeOf(error)})`)
  }
}

function unpack(fd: number, segment: SegmentRecord, at: number, offset: number): Buffer {
  const packed = Buffer.allocUnsafe(segment.blocks[at]!)
  const wanted = Math.min(segment.blockBytes, segment.to - segment.from - at * segment.blockBytes)
  let bytes: Buffer
  try {
    if (readSync(fd, packed, 0, packed.length, offset) !== packed.length) throw new Error('it is truncated')
    bytes = brotliDecompressSync(packed, { maxOutputLength: wanted })
  } catch (error) {
    throw new DamagedArchive(segment.file, 'damaged', `block ${at + 1} cannot be unpacked (${reasonOf(error)})`)
  }
  if (bytes.length === wanted) return bytes
  throw new DamagedArchive(
    segment.file,
    'damaged',
    `block ${at + 1} contains ${bytes.length} bytes instead of ${wanted}`,
  )
}
