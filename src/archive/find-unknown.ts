import { closeSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { isLeftover } from '../lib/atomic-file.js'
import { errorCodeOf, reasonOf } from '../lib/errors.js'
import type { Store } from '../store/store.js'
import type { ArchivePaths } from './archive-folders.js'
import { DamagedArchive } from './blocks.js'
import { fileName, type NamedFile, parseFileName } from './file-name.js'
import { openOwnFile, type RecordFile, readRecord, recordFileStem, recordNames } from './record-file.js'
import { BLOCK_BYTES } from './write-segment.js'

export interface SkippedFile {
  /** Full path of the file that was not adopted. */
  path: string
  reason: string
}

/** Segment file (stored byte range of a transcript) with its parsed name. */
export type NamedSegment = NamedFile & { file: string }

interface Unknown {
  records: RecordFile[]
  /** Segment files, sorted, that neither the store nor a usable record file references. */
  files: NamedSegment[]
  skipped: SkippedFile[]
}

/** Store methods that tell which files are known. */
type KnownArchives = Pick<Store, 'archives' | 'segments' | 'leftovers'>

/**
 * Returns the number of archives on the disk that the store does not know.
 * Reads file names and record files only.
 */
export function countUnrecordedFiles(store: KnownArchives, places: ArchivePaths): number {
  const { records, files } = findUnrecordedFiles(store, places)
  return new Set([...records, ...files].map(({ stem }) => stem)).size
}

/**
 * Lists archive files on the disk that the store neither references nor will store or delete.
 */
export function findUnrecordedFiles(store: KnownArchives, places: ArchivePaths): Unknown {
  // List the folders before reading the store.
  // A process that stores an archive first names its file and then stores the segment.
  // In between, the archive's own row already implies that file name.
  const names = segmentNames(places)
  const recordFiles = recordNames(places)
  const stored = store.archives()
  const byStem = new Map(stored.map((archive) => [archive.stem, archive]))
  const ids = new Map(stored.map(({ archiveId, stem }) => [archiveId, stem]))
  const known = new Set(store.segments().map(({ file }) => file))
  for (const { stem, status, parts } of stored)
    if (status !== 'kept') for (const { name } of parts) known.add(fileName(stem, name))
  for (const item of store.leftovers()) known.add(item.split(' ').at(-1)!)

  const records: RecordFile[] = []
  const skipped: SkippedFile[] = []
  const newer = new Set<string>()
  for (const name of recordFiles) {
    const stem = recordFileStem(name)
    const archive = byStem.get(stem)
    if (known.has(name) || (archive && !archive.parts.some(({ trouble }) => trouble !== null))) continue
    const path = join(places.records, name)
    const read = readRecord(places, name)
    if (read.state !== 'read') {
      skipped.push({ path, reason: read.reason })
      if (read.state === 'newer') newer.add(stem)
      continue
    }
    const { record } = read
    if (archive && countKeptParts(archive) >= countKeptParts(record)) continue
    if ((ids.get(record.archiveId) ?? stem) !== stem) {
      skipped.push({ path, reason: `another archive has the same id (${record.archiveId})` })
      continue
    }
    ids.set(record.archiveId, stem)
    records.push(record)
    for (const { file } of record.segments) known.add(file)
  }

  const files: NamedSegment[] = []
  for (const file of names) {
    const named = parseFileName(file)
    if (named === null || known.has(file)) continue
    const path = join(places.folder, file)
    if (newer.has(named.stem)) skipped.push({ path, reason: 'a newer version of Baton wrote it' })
    else if (named.trigger === null) skipped.push({ path, reason: 'this version of Baton does not use such a name' })
    else files.push({ ...named, file })
  }
  return { records, files, skipped }
}

function segmentNames({ folder }: ArchivePaths): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !isLeftover(name))
      .sort()
  } catch {
    return []
  }
}

/** Returns the number of transcripts of an archive that are kept. */
export const countKeptParts = ({ parts }: { parts: readonly { sha256: string | null }[] }): number =>
  parts.filter(({ sha256 }) => sha256 !== null).length

interface ScannedSegment {
  /** Compressed size of each block, in order. */
  blocks: number[]
  storedBytes: number
  /** Number of transcript bytes that the file holds. */
  bytes: number
}

/** Upper bound of a compressed block: incompressible data grows by only a few bytes. */
const MOST_PACKED = 2 * BLOCK_BYTES

/**
 * Unpacks a segment file whose block boundaries are unknown, and measures its blocks.
 * Holds one block in memory. Stops when `visit` returns false. Throws DamagedArchive.
 */
export function scanSegment(folder: string, file: string, visit: (raw: Buffer) => unknown): ScannedSegment {
  let fd: number
  try {
    fd = openOwnFile(join(folder, file))
  } catch (error) {
    const isMissing = error instanceof Error && errorCodeOf(error.cause) === 'ENOENT'
    throw new DamagedArchive(file, isMissing ? 'missing' : 'damaged', reasonOf(error))
  }
  try {
    const scanned: ScannedSegment = { blocks: [], storedBytes: 0, bytes: 0 }
    const packed = Buffer.allocUnsafe(MOST_PACKED)
    for (;;) {
      const got = readSync(fd, packed, 0, packed.length, scanned.storedBytes)
      if (got === 0) break
      if (scanned.bytes % BLOCK_BYTES !== 0)
        throw damagedBlockError(file, scanned, 'there is data after its last block')
      const { raw, size } = unpackBlock(file, scanned, packed.subarray(0, got))
      scanned.blocks.push(size)
      scanned.storedBytes += size
      scanned.bytes += raw.length
      if (visit(raw) === false) return scanned
    }
    if (scanned.bytes === 0) throw new DamagedArchive(file, 'damaged', 'it is empty')
    return scanned
  } finally {
    closeSync(fd)
  }
}

function unpackBlock(file: string, before: ScannedSegment, packed: Buffer): { raw: Buffer; size: number } {
  try {
    // With `info`, Node also returns the decoder, which knows how many bytes it consumed.
    // Node's types omit this option.
    const { buffer, engine } = brotliDecompressSync(packed, {
      maxOutputLength: BLOCK_BYTES,
      info: true,
    } as object) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
    if (buffer.length === 0) throw new Error('it contains no data')
    return { raw: buffer, size: engine.bytesWritten }
  } catch (error) {
    throw damagedBlockError(file, before, reasonOf(error))
  }
}

function damagedBlockError(file: string, { blocks }: ScannedSegment, reason: string): DamagedArchive {
  return new DamagedArchive(file, 'damaged', `block ${blocks.length + 1} cannot be unpacked (${reason})`)
}
