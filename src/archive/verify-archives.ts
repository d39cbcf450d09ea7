import { readdirSync } from 'node:fs'
import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import { isLeftover } from '../lib/atomic-file.js'
import type { ArchivePaths } from './archive-folders.js'
import { type Blocks, DamagedArchive } from './blocks.js'
import { parseFileName } from './file-name.js'
import { groupByStream } from './view-archives.js'
import { newSha256 } from './write-segment.js'

interface Verified {
  archiveId: string
  state: 'whole' | 'missing' | 'damaged'
  /** Reason why the archive is damaged. Empty when the archive is intact. */
  reason: string
}

export interface VerificationResult {
  archives: Verified[]
  /** Files in the archive folder that Baton did not create. */
  extra: string[]
}

/** Unpacks every stream once and compares the hash at the end of each archive. */
export function verifyArchives(
  places: ArchivePaths,
  blocks: Blocks,
  records: readonly ArchiveRecord[],
  segments: readonly SegmentRecord[],
  progress: (bytes: number) => void = () => {},
): VerificationResult {
  const wanted = new Set(records.flatMap(({ parts }) => parts.flatMap(({ streamId }) => streamId ?? [])))
  const found = new Map<string, StreamHashes>()
  for (const [streamId, of] of groupByStream(segments)) {
    if (wanted.has(streamId)) found.set(streamId, hashStream(blocks, of, cutsOf(records, streamId), progress))
  }
  const kept = records.filter(({ status }) => status === 'kept')
  return { archives: kept.map((record) => verifyArchive(record, found)), extra: extraFiles(places) }
}

interface StreamHashes {
  /** Hash of the stream's first bytes, by number of bytes. */
  hashes: Map<number, string>
  trouble: DamagedArchive | null
}

function cutsOf(records: readonly ArchiveRecord[], streamId: string): number[] {
  const cuts = records.flatMap(({ parts }) => parts.flatMap((part) => (part.streamId === streamId ? [part.bytes] : [])))
  return [...new Set(cuts)].sort((a, b) => a - b)
}

function hashStream(
  blocks: Blocks,
  segments: readonly SegmentRecord[],
  cuts: number[],
  progress: (bytes: number) => void,
): StreamHashes {
  const hash = newSha256()
  const hashes = new Map<number, string>()
  let at = 0
  let next = 0
  try {
    for (const segment of segments) {
      if (segment.from !== at)
        throw new DamagedArchive(segment.file, 'missing', `bytes ${at} to ${segment.from} are missing from all files`)
      blocks.each(segment, (raw) => {
        let rest = raw
        while (next < cuts.length && cuts[next]! <= at + rest.length) {
          const upTo = cuts[next]! - at
          hash.update(rest.subarray(0, upTo))
          hashes.set(cuts[next++]!, hash.copy().digest('hex'))
          rest = rest.subarray(upTo)
          at += upTo
        }
        hash.update(rest)
        at += rest.length
        progress(raw.length)
      })
    }
    return { hashes, trouble: null }
  } catch (error) {
    if (error instanceof DamagedArchive) return { hashes, trouble: error }
    throw error
  }
}

function verifyArchive(record: ArchiveRecord, found: ReadonlyMap<string, StreamHashes>): Verified {
  const { archiveId } = record
  for (const { streamId, bytes, sha256 } of record.parts) {
    if (streamId === null) continue
    const walked = found.get(streamId)
    if (!walked) return { archiveId, state: 'missing', reason: 'the store no longer lists any of its files' }
    const hash = walked.hashes.get(bytes)
    if (hash === sha256) continue
    if (hash !== undefined)
      return { archiveId, state: 'damaged', reason: 'its unpacked content differs from what was archived' }
    if (walked.trouble) return { archiveId, state: walked.trouble.problem, reason: walked.trouble.message }
    return { archiveId, state: 'missing', reason: 'the store no longer lists its last file' }
  }
  return { archiveId, state: 'whole', reason: '' }
}

/**
 * Lists files with names that Baton never uses.
 * Segment files that the store does not know are left to `baton archive adopt`.
 */
function extraFiles({ folder }: ArchivePaths): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && parseFileName(entry.name) === null && !isLeftover(entry.name))
      .map(({ name }) => name)
      .sort()
  } catch {
    return []
  }
}
