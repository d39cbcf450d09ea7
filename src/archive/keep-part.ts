import { closeSync, fstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord, SegmentRecord } from '../contract/archive.js'
import { codeOf } from '../lib/errors.js'
import type { Store } from '../store/store.js'
import { type Blocks, DamagedArchive, makeBlocks } from './blocks.js'
import { fileName } from './file-name.js'
import { isSound } from './is-sound.js'
import { markOf, openSource } from './look-at-source.js'
import type { Places } from './places.js'
import { SourceTrouble } from './source-trouble.js'
import { hashBytes, newHash, writeSegment } from './write-segment.js'

export interface KeepParts {
  store: Store
  places: Places
  newId(): string
  self: { where: string }
  progress?(bytes: number): void
  /** Called when a file is ready, to give it its name; may throw instead. */
  name?(give: () => void): void
}

export interface KeptPart {
  streamId: string | null
  sha256: string
  /** What was new; null: nothing was. */
  segment: SegmentRecord | null
}

/**
 * Brings one transcript of an archive into its stream. The bytes that older archives hold are not stored again, once their hash has
 * proven that they are the same and their files were looked at; a transcript that was rewritten, or whose older archives are damaged,
 * begins a stream of its own.
 */
export function keepPart(parts: KeepParts, record: ArchiveRecord, part: ArchivePart): KeptPart {
  if (part.bytes === 0) return { streamId: null, sha256: newHash().digest('hex'), segment: null }
  const source = openPlanned(parts.places, part)
  try {
    const known = newestStream(parts.store, record.sessionId, part.name)
    return (known && extended(parts, record, part, source, known)) ?? fresh(parts, record, part, source)
  } finally {
    closeSync(source)
  }
}

/** null: the stream begins otherwise than the transcript, or is damaged. */
function extended(
  parts: KeepParts,
  record: ArchiveRecord,
  part: ArchivePart,
  source: number,
  known: SegmentRecord[],
): KeptPart | null {
  const last = known.at(-1)!
  const hash = newHash()
  if (part.bytes < last.to) {
    hashBytes(source, 0, part.bytes, hash)
    const sha256 = hash.digest('hex')
    const same = hashOfStream(makeBlocks(parts.places.folder, 0), known, part.bytes) === sha256
    return same ? { streamId: last.streamId, sha256, segment: null } : null
  }
  if (!isSound(parts.places.folder, known, source)) return null
  hashBytes(source, 0, last.to, hash, ({ length }) => parts.progress?.(length))
  if (hash.copy().digest('hex') !== last.sha256) return null
  if (part.bytes === last.to) return { streamId: last.streamId, sha256: last.sha256, segment: null }
  return written(parts, record, part, source, { streamId: last.streamId, from: last.to, hash })
}

function fresh(parts: KeepParts, record: ArchiveRecord, part: ArchivePart, source: number): KeptPart {
  return written(parts, record, part, source, { streamId: `str_${parts.newId()}`, from: 0, hash: newHash() })
}

function written(
  { places, self, progress, name: naming }: KeepParts,
  { sessionId, stem }: ArchiveRecord,
  { name, bytes }: ArchivePart,
  source: number,
  { streamId, from, hash }: { streamId: string; from: number; hash: ReturnType<typeof newHash> },
): KeptPart {
  const segment = { streamId, sessionId, name, from, to: bytes, file: fileName(stem, name) }
  const made = writeSegment({
    ...{ folder: places.folder, where: self.where, source, hash, segment },
    ...(progress ? { progress } : {}),
    ...(naming ? { name: naming } : {}),
  })
  return { streamId, sha256: made.sha256, segment: made }
}

/** Its segments in order, without a gap; null: there is none. */
function newestStream(store: Store, sessionId: string, name: string): SegmentRecord[] | null {
  const streams = new Map<string, SegmentRecord[]>()
  for (const segment of store.segments({ sessionId })) {
    if (segment.name === name) streams.set(segment.streamId, [...(streams.get(segment.streamId) ?? []), segment])
  }
  const whole = [...streams.values()].filter(isWhole)
  // Names hold the time, so the newest file sorts last.
  return whole.sort((a, b) => (a.at(-1)!.file < b.at(-1)!.file ? -1 : 1)).at(-1) ?? null
}

/** From the first byte on, without a gap. */
export function isWhole(segments: readonly SegmentRecord[]): boolean {
  return segments.every(({ from }, at) => from === (segments[at - 1]?.to ?? 0))
}

/** null: a file is not there or cannot be unpacked. */
function hashOfStream(blocks: Blocks, segments: readonly SegmentRecord[], bytes: number): string | null {
  const hash = newHash()
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

/** The link if there is one, else the transcript itself, as long as it still begins with what was planned. */
function openPlanned({ links }: Places, part: ArchivePart): number {
  const places = [...(part.link === null ? [] : [join(links, part.link)]), part.path]
  let trouble: SourceTrouble | null = null
  for (const place of places) {
    let fd: number
    try {
      fd = openSource(place)
    } catch (error) {
      trouble = new SourceTrouble(
        codeOf(error) === 'ENOENT'
          ? 'the transcript was removed before it was kept'
          : `the transcript cannot be read (${codeOf(error)})`,
      )
      continue
    }
    const wrong = changeOf(fd, part)
    if (wrong === null) return fd
    closeSync(fd)
    trouble = new SourceTrouble(wrong)
  }
  throw trouble!
}

function changeOf(fd: number, { bytes, mark }: ArchivePart): string | null {
  const stat = fstatSync(fd)
  if (!stat.isFile()) return 'the transcript was replaced before it was kept'
  if (stat.size < bytes) return 'the transcript became shorter before it was kept'
  return markOf(fd, bytes) === mark ? null : 'the transcript was rewritten before it was kept'
}

export function dropLinks({ links }: Places, record: ArchiveRecord): void {
  for (const { link } of record.parts) if (link !== null) rmSync(join(links, link), { force: true })
}
