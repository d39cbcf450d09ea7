import { closeSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import type { OpenedFile } from '../lib/named-file.js'
import type { Store } from '../store/store.js'
import type { ArchivePaths } from './archive-folders.js'
import { type Blocks, DamagedArchive, makeBlocks } from './blocks.js'
import { fileName } from './file-name.js'
import { describeRefusedFile, fingerprintOf, openSourceFile } from './look-at-source.js'
import { hashBytes, newSha256, SourceChanged, writeSegment } from './write-segment.js'

export interface KeepDependencies {
  store: Store
  places: ArchivePaths
  newId(): string
  self: { where: string }
  progress?(bytes: number): void
  /** Called when a file is complete, to give the file its name with `give`. May throw instead. */
  name?(give: () => void): void
}

export interface KeptPart {
  streamId: string | null
  sha256: string
  /** Newly written segment. Null when the transcript has nothing new. */
  segment: SegmentRecord | null
}

/**
 * Copies one transcript of an archive into its stream (stored bytes of a transcript).
 * Bytes of older archives are not stored again if their hash is equal and their files are intact.
 * A rewritten transcript, or one whose older archives are damaged, starts a new stream.
 */
export function keepPart(deps: KeepDependencies, record: ArchiveRecord, part: ArchivePart): KeptPart {
  if (part.bytes === 0) return { streamId: null, sha256: newSha256().digest('hex'), segment: null }
  const source = openPlannedSource(deps.places, part)
  try {
    const known = newestStream(deps.store, record.sessionId, part.name)
    return (known && extendStream(deps, record, part, source, known)) ?? startStream(deps, record, part, source)
  } finally {
    closeSync(source)
  }
}

/** Extends an existing stream. Null when the stream differs from the transcript or is damaged. */
function extendStream(
  deps: KeepDependencies,
  record: ArchiveRecord,
  part: ArchivePart,
  source: number,
  known: SegmentRecord[],
): KeptPart | null {
  const last = known.at(-1)!
  const hash = newSha256()
  if (part.bytes < last.to) {
    hashBytes(source, 0, part.bytes, hash)
    const sha256 = hash.digest('hex')
    const same = hashOfStream(makeBlocks(deps.places.folder, 0), known, part.bytes) === sha256
    return same ? { streamId: last.streamId, sha256, segment: null } : null
  }
  if (!matchesSource(deps.places.folder, known, source)) return null
  hashBytes(source, 0, last.to, hash, ({ length }) => deps.progress?.(length))
  if (hash.copy().digest('hex') !== last.sha256) return null
  if (part.bytes === last.to) return { streamId: last.streamId, sha256: last.sha256, segment: null }
  return writePart(deps, record, part, source, { streamId: last.streamId, from: last.to, hash })
}

function startStream(deps: KeepDependencies, record: ArchiveRecord, part: ArchivePart, source: number): KeptPart {
  return writePart(deps, record, part, source, { streamId: `str_${deps.newId()}`, from: 0, hash: newSha256() })
}

function writePart(
  { places, self, progress, name: naming }: KeepDependencies,
  { sessionId, stem }: ArchiveRecord,
  { name, bytes }: ArchivePart,
  source: number,
  { streamId, from, hash }: { streamId: string; from: number; hash: ReturnType<typeof newSha256> },
): KeptPart {
  const segment = { streamId, sessionId, name, from, to: bytes, file: fileName(stem, name) }
  const made = writeSegment({
    folder: places.folder,
    where: self.where,
    source,
    hash,
    segment,
    ...(progress ? { progress } : {}),
    ...(naming ? { name: naming } : {}),
  })
  return { streamId, sha256: made.sha256, segment: made }
}

/** Returns the segments of the newest gapless stream, in order. Null when there is none. */
function newestStream(store: Store, sessionId: string, name: string): SegmentRecord[] | null {
  const streams = new Map<string, SegmentRecord[]>()
  for (const segment of store.segments({ sessionId })) {
    if (segment.name === name) streams.set(segment.streamId, [...(streams.get(segment.streamId) ?? []), segment])
  }
  const whole = [...streams.values()].filter(isGapless)
  // File names contain the time, so the newest file sorts last.
  return whole.sort((a, b) => (a.at(-1)!.file < b.at(-1)!.file ? -1 : 1)).at(-1) ?? null
}

/** True when the segments cover the stream from its first byte without a gap. */
export function isGapless(segments: readonly SegmentRecord[]): boolean {
  return segments.every(({ from }, at) => from === (segments[at - 1]?.to ?? 0))
}

/** Hashes a stream's first bytes. Null when a segment file is missing or cannot be unpacked. */
function hashOfStream(blocks: Blocks, segments: readonly SegmentRecord[], bytes: number): string | null {
  const hash = newSha256()
  for (const segment of segments) {
    let left = bytes - segment.from
    if (left <= 0) break
    try {
      blocks.each(segment, (raw) => {
        if (left > 0) hash.update(raw.subarray(0, left))
        left -= raw.length
      })
    } catch (error) {
      if (error instanceof DamagedArchive) return null
      throw error
    }
  }
  return hash.digest('hex')
}

/** Opens the hard link, or else the transcript itself. Throws if its beginning has changed. */
function openPlannedSource({ links }: ArchivePaths, part: ArchivePart): number {
  const places = [...(part.link === null ? [] : [join(links, part.link)]), part.path ?? '']
  let trouble: SourceChanged | null = null
  for (const place of places) {
    const opened = openSourceFile(place)
    if ('refused' in opened) {
      trouble = new SourceChanged(
        opened.refused === 'missing'
          ? 'the transcript was removed before it was archived'
          : describeRefusedFile(opened),
      )
      continue
    }
    const wrong = findChange(opened, part)
    if (wrong === null) return opened.fd
    closeSync(opened.fd)
    trouble = new SourceChanged(wrong)
  }
  throw trouble!
}

function findChange({ fd, stats }: OpenedFile, { bytes, mark }: ArchivePart): string | null {
  if (stats.size < bytes) return 'the transcript became shorter before it was archived'
  return fingerprintOf(fd, bytes) === mark ? null : 'the transcript was rewritten before it was archived'
}

export function deleteLinks({ links }: ArchivePaths, record: ArchiveRecord): void {
  for (const { link } of record.parts) if (link !== null) rmSync(join(links, link), { force: true })
}

/** Unpacking this many bytes takes about half a second. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * True when a new archive may build on a stream: every file has its size and matches the source.
 * Above `mostBytes`, only samples are compared: the last block of each file and some others.
 * These others are at even distances, which shift whenever the stream has grown.
 */
export function matchesSource(
  folder: string,
  segments: readonly SegmentRecord[],
  source: number,
  mostBytes = MOST_BYTES,
): boolean {
  const blocks = makeBlocks(folder, 0)
  try {
    if (segments.some(({ file, storedBytes }) => sizeOf(join(folder, file)) !== storedBytes)) return false
    return spansOf(segments, mostBytes).every(([from, to]) =>
      blocks.read(segments, from, to).equals(bytesOf(source, from, to)),
    )
  } catch (error) {
    if (error instanceof DamagedArchive) return false
    throw error
  }
}

/** Returns byte ranges [from, to) of the stream, one block each. */
function spansOf(segments: readonly SegmentRecord[], mostBytes: number): [from: number, to: number][] {
  const stride = Math.ceil((segments.at(-1)?.to ?? 0) / mostBytes)
  let at = segments.length
  return segments.flatMap(({ from, to, blocks, blockBytes }) =>
    blocks.flatMap((_, nth): [number, number][] => {
      const last = nth === blocks.length - 1
      if (at++ % stride !== 0 && !last) return []
      return [[from + nth * blockBytes, last ? to : from + (nth + 1) * blockBytes]]
    }),
  )
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

function bytesOf(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from)
  let got = 0
  for (let more = 1; more > 0 && got < bytes.length; got += more)
    more = readSync(fd, bytes, got, bytes.length - got, from + got)
  return bytes.subarray(0, got)
}
