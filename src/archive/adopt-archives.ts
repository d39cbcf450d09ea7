import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import type { Store } from '../store/store.js'
import type { ArchivePaths } from './archive-folders.js'
import { DamagedArchive } from './blocks.js'
import { safeName } from './file-name.js'
import {
  countKeptParts,
  findUnrecordedFiles,
  type NamedSegment,
  type SkippedFile,
  scanSegment,
} from './find-unknown.js'
import { type RecordFile, recordName, type SegmentPlace } from './record-file.js'
import { BLOCK_BYTES, newSha256 } from './write-segment.js'

/**
 * Restores archives on the disk that the store does not know, for example after the store was lost.
 *
 * 1. `findUnrecordedFiles` lists record files and segment files that the store does not reference.
 * 2. Each session is handled alone. Its archives come from their record files.
 * Segment files without a record file come from before Baton wrote records.
 * Segment files without a record are ordered by name, and each file name gives one archive.
 * 3. Every stream is unpacked once. The hash at the end of each archive must be the recorded one.
 * 4. One transaction per session stores the verified archives.
 * A killed process leaves sessions either adopted or untouched. The next run does the rest.
 *
 * Ids of archives without a record are derived from their file names.
 * Therefore processes that adopt at the same time store the same rows.
 */
export interface AdoptDependencies {
  store: Store
  places: ArchivePaths
  /**
   * Agent of archives that have no record file, and a function that finds the project in a line.
   */
  legacy: { agent: string; projectOfLine(line: string): string | null }
}

interface AdoptOptions {
  /** Checks everything but stores nothing. */
  dryRun?: boolean
  /** Receives the number of bytes as they are unpacked. */
  progress?(bytes: number): void
  /** Called between the steps. A test kills the process there. */
  step?(name: string): void
}

export interface AdoptionResult {
  /** Archives that were stored, or would be stored without `dryRun`. Oldest first. */
  adopted: ArchiveRecord[]
  skipped: SkippedFile[]
}

export function adoptArchives(deps: AdoptDependencies, options: AdoptOptions = {}): AdoptionResult {
  const { records, files, skipped } = findUnrecordedFiles(deps.store, deps.places)
  const adopted: ArchiveRecord[] = []
  const sessions = new Set([...records.map(({ sessionId }) => safeName(sessionId)), ...files.map((one) => one.session)])
  for (const session of [...sessions].sort()) {
    const proven = proveSession(
      deps,
      records.filter(({ sessionId }) => safeName(sessionId) === session),
      files.filter((one) => one.session === session),
      options,
    )
    skipped.push(...proven.skipped)
    options.step?.(`proved ${session}`)
    adopted.push(...(options.dryRun ? findNotStored(deps.store, proven.archives) : storeSession(deps, proven, options)))
    options.step?.(`stored ${session}`)
  }
  adopted.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
  const first = new Map<string, SkippedFile>()
  for (const one of skipped) if (!first.has(one.path)) first.set(one.path, one)
  return { adopted, skipped: [...first.values()] }
}

interface ProvenSession {
  archives: ArchiveRecord[]
  segments: SegmentRecord[]
  skipped: SkippedFile[]
}

/** Results of unpacking the streams of one session. */
interface Evidence {
  /** Verified segments, by file. */
  segments: Map<string, SegmentRecord>
  /** Reason why a file cannot be used, by file. */
  troubles: Map<string, string>
  /** Hash of a stream's first bytes, by stream and number of bytes. */
  hashes: Map<string, Map<number, string>>
}

/** Unpacks everything of one session and returns the archives whose bytes are all present. */
function proveSession(
  deps: AdoptDependencies,
  records: readonly RecordFile[],
  files: readonly NamedSegment[],
  options: AdoptOptions,
): ProvenSession {
  const { places } = deps
  const sessionId = records[0]?.sessionId ?? files[0]!.session
  const evidence: Evidence = { segments: new Map(), troubles: new Map(), hashes: new Map() }
  for (const stream of streamsOfRecords(records)) {
    const cuts = records.flatMap((record) =>
      record.parts.flatMap(({ streamId, bytes }) => (streamId === stream[0]!.streamId ? [bytes] : [])),
    )
    proveStream(places, evidence, sessionId, stream, cuts, options)
  }
  for (const stream of streamsOfFiles(places, files, evidence))
    proveStream(places, evidence, sessionId, stream, [], options)

  const archives: ArchiveRecord[] = []
  const skipped = [...evidence.troubles].map(([file, reason]) => ({ path: join(places.folder, file), reason }))
  for (const record of records) {
    const judged = judgeRecord(record, evidence)
    if (typeof judged !== 'string') archives.push(judged)
    else skipped.push({ path: join(places.records, recordName(record.stem)), reason: judged })
  }
  archives.push(...archivesOfFiles(deps, files, evidence))
  const used = new Set(archives.flatMap((archive) => archive.parts.map(({ streamId }) => streamId)))
  const segments = [...evidence.segments.values()].filter(({ streamId }) => used.has(streamId))
  return { archives, segments, skipped }
}

/**
 * Position of a segment file in a stream.
 * `expected` is null when no archive record names the file: its bytes and hash are then unknown.
 */
type StreamFile = Pick<SegmentRecord, 'streamId' | 'name' | 'file'> & { expected: SegmentPlace | null }

/**
 * Returns the streams that records name, with their segments in order.
 * Archives of one session share streams.
 */
function streamsOfRecords(records: readonly RecordFile[]): StreamFile[][] {
  const streams = new Map<string, Map<number, SegmentPlace>>()
  for (const segment of records.flatMap((record) => record.segments)) {
    const stream = streams.get(segment.streamId) ?? new Map<number, SegmentPlace>()
    streams.set(segment.streamId, stream.set(segment.from, segment))
  }
  return [...streams.values()].map((stream) =>
    [...stream.values()].sort((a, b) => a.from - b.from).map((expected) => ({ ...expected, expected })),
  )
}

/**
 * Returns the streams of segment files without records.
 * File names contain the time, so sorting them gives the order of the bytes.
 * A file that begins like the first file holds the transcript from its first byte.
 * Every file that begins otherwise continues the file before it.
 */
function streamsOfFiles(places: ArchivePaths, files: readonly NamedSegment[], { troubles }: Evidence): StreamFile[][] {
  const streams: StreamFile[][] = []
  for (const part of new Set(files.map((one) => one.part))) {
    let first: Buffer | null = null
    let broken: string | null = null
    for (const { file } of files.filter((one) => one.part === part)) {
      let beginning: Buffer
      try {
        beginning = readFirstBlock(places, file)
      } catch (error) {
        troubles.set(file, damageReason(error))
        broken = file
        continue
      }
      if ((first === null && broken === null) || (first !== null && isSameBeginning(first, beginning))) {
        first ??= beginning
        broken = null
        streams.push([])
      } else if (broken !== null) {
        troubles.set(file, `it may continue ${broken}, which is damaged`)
        continue
      }
      const stream = streams.at(-1)!
      stream.push({ streamId: stream[0]?.streamId ?? `str_${idOf(file)}`, name: part, file, expected: null })
    }
  }
  return streams
}

function readFirstBlock({ folder }: ArchivePaths, file: string): Buffer {
  let beginning = Buffer.alloc(0)
  scanSegment(folder, file, (raw) => {
    beginning = Buffer.from(raw)
    return false
  })
  return beginning
}

/**
 * True when both begin with the same line.
 * Transcript lines contain ids and times, so no later line equals the first one.
 */
function isSameBeginning(first: Buffer, other: Buffer): boolean {
  const line = first.subarray(0, first.indexOf('\n') + 1 || first.length)
  return other.subarray(0, line.length).equals(line)
}

/**
 * Unpacks a stream from its first byte and records segments, hashes and problems in the evidence.
 * Nothing after a file that fails is verified.
 */
function proveStream(
  { folder }: ArchivePaths,
  { segments, troubles, hashes }: Evidence,
  sessionId: string,
  stream: readonly StreamFile[],
  cuts: readonly number[],
  { progress }: AdoptOptions,
): void {
  const hash = newSha256()
  const found = new Map<number, string>()
  const wanted = [...new Set(cuts)].sort((a, b) => a - b)
  hashes.set(stream[0]!.streamId, found)
  let at = 0
  let broken: string | null = null
  for (const { streamId, name, file, expected } of stream) {
    if (broken !== null) {
      if (!troubles.has(file)) troubles.set(file, `it continues ${broken}, which is damaged`)
      continue
    }
    const from = at
    try {
      if (expected !== null && expected.from !== from)
        throw new DamagedArchive(
          file,
          'missing',
          `bytes ${from} to ${expected.from} before it are missing from all files`,
        )
      const scanned = scanSegment(folder, file, (raw) => {
        let rest = raw
        while (wanted.length > 0 && wanted[0]! <= at + rest.length) {
          const upTo = wanted[0]! - at
          hash.update(rest.subarray(0, upTo))
          found.set(wanted.shift()!, hash.copy().digest('hex'))
          rest = rest.subarray(upTo)
          at += upTo
        }
        hash.update(rest)
        at += rest.length
        progress?.(raw.length)
      })
      const sha256 = hash.copy().digest('hex')
      if (expected !== null && expected.to !== at)
        throw new DamagedArchive(file, 'damaged', `it contains ${at - from} bytes instead of ${expected.to - from}`)
      if (expected !== null && expected.sha256 !== sha256)
        throw new DamagedArchive(file, 'damaged', 'its unpacked content differs from what was archived')
      const { blocks, storedBytes } = scanned
      segments.set(file, {
        streamId,
        sessionId,
        name,
        from,
        to: at,
        file,
        storedBytes,
        sha256,
        blocks,
        blockBytes: BLOCK_BYTES,
      })
    } catch (error) {
      troubles.set(file, damageReason(error))
      broken = file
    }
  }
}

function damageReason(error: unknown): string {
  if (!(error instanceof DamagedArchive)) throw error
  return error.message.slice(`${error.file}: `.length)
}

/**
 * Returns the archive to store.
 * Returns a reason as a string when the session's own transcript is incomplete.
 */
function judgeRecord(record: RecordFile, evidence: Evidence): ArchiveRecord | string {
  const parts: ArchivePart[] = []
  for (const part of record.parts) {
    const reason = part.trouble ?? findPartProblem(part, record, evidence)
    if (reason !== null && part.name === '') return reason
    parts.push(reason === null ? adoptedPart(part) : { ...adoptedPart(part), ...LOST, trouble: reason })
  }
  return adoptedArchive(record, parts)
}

/** Returns why a transcript cannot be used. Null when all its bytes are verified. */
function findPartProblem(part: RecordFile['parts'][number], record: RecordFile, evidence: Evidence): string | null {
  if (part.streamId === null)
    return part.bytes === 0 && part.sha256 === newSha256().digest('hex') ? null : 'it was never archived'
  if (evidence.hashes.get(part.streamId)?.get(part.bytes) === part.sha256) {
    const needed = record.segments.filter(({ streamId, from }) => streamId === part.streamId && from < part.bytes)
    const unproven = needed.find(({ file }) => !evidence.segments.has(file))
    return unproven ? `it needs ${unproven.file}: ${evidence.troubles.get(unproven.file)}` : null
  }
  for (const { streamId, from, file } of record.segments) {
    const trouble = evidence.troubles.get(file)
    if (streamId === part.streamId && from < part.bytes && trouble !== undefined) return `it needs ${file}: ${trouble}`
  }
  return 'its unpacked content differs from what was archived'
}

const LOST = { bytes: 0, streamId: null, sha256: null }

function adoptedPart({ name, path, bytes, streamId, sha256, trouble }: RecordFile['parts'][number]): ArchivePart {
  return { name, path, bytes, mark: '', link: null, streamId, sha256, trouble }
}

function adoptedArchive(
  {
    archiveId,
    sessionId,
    agent,
    project,
    title,
    trigger,
    createdAt,
    writtenAt,
    stem,
  }: Omit<RecordFile, 'parts' | 'segments'>,
  parts: ArchivePart[],
): ArchiveRecord {
  return {
    archiveId,
    sessionId,
    agent,
    project,
    ...(title === undefined ? {} : { title }),
    trigger,
    createdAt,
    ...(writtenAt === undefined ? {} : { writtenAt }),
    stem,
    status: 'kept',
    reason: null,
    attempts: 0,
    retryAt: null,
    lease: null,
    indexed: false,
    parts,
  }
}

/**
 * Returns archives for segment files without records: one archive per time in the file names.
 * Every archive has the session's transcript and those of its subagents as written by then.
 * An archive that had nothing new to store left no file, so it cannot be restored.
 * The project is read from the transcript. The transcript's path is unknown.
 */
function archivesOfFiles(
  { places, legacy }: AdoptDependencies,
  files: readonly NamedSegment[],
  { segments }: Evidence,
): ArchiveRecord[] {
  const names = [...new Set(files.map(({ part }) => part))].sort()
  const stems = new Map(files.map((one) => [one.stem, one]))
  let project: string | null = null
  return [...stems.values()].flatMap(({ stem, session, createdAt, trigger }) => {
    const parts = names.flatMap((name): ArchivePart[] => {
      const last = files.findLast((one) => one.part === name && one.stem <= stem)
      const segment = last && segments.get(last.file)
      if (!segment) return []
      const { to: bytes, streamId, sha256 } = segment
      return [adoptedPart({ name, path: null, bytes, streamId, sha256, trouble: null })]
    })
    if (parts[0]?.name !== '') return []
    const main = files.find(({ part, file }) => part === '' && segments.has(file))!
    project ??= projectOf(readFirstBlock(places, main.file), legacy.projectOfLine)
    const archiveId = `arc_${idOf(stem)}`
    return [
      adoptedArchive(
        { stem, archiveId, sessionId: session, agent: legacy.agent, project, trigger: trigger!, createdAt },
        parts,
      ),
    ]
  })
}

/** Returns the first project that a complete line names. Null when no line names one. */
function projectOf(beginning: Buffer, projectOfLine: (line: string) => string | null): string | null {
  for (const line of beginning.toString('utf8').split('\n')) {
    const project = projectOfLine(line)
    if (project !== null) return project
  }
  return null
}

/** Derives an id from a file name, the same in every process that adopts the file. */
const idOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

/**
 * Stores the verified archives, unless another process stored them or removed the files meanwhile.
 * Returns the archives that are new.
 */
function storeSession(
  { store, places }: AdoptDependencies,
  { archives, segments }: ProvenSession,
  { step }: AdoptOptions,
): ArchiveRecord[] {
  return store.transaction(() => {
    const leaving = new Set(store.leftovers())
    const lost = segments.filter(
      ({ file, storedBytes }) =>
        leaving.has(`file ${file}`) ||
        lstatSync(join(places.folder, file), { throwIfNoEntry: false })?.size !== storedBytes,
    )
    const removed = new Map<string, number>()
    for (const { streamId, from } of lost)
      removed.set(streamId, Math.min(from, removed.get(streamId) ?? Number.POSITIVE_INFINITY))
    const isThere = ({ streamId, bytes }: ArchivePart): boolean =>
      streamId === null || bytes <= (removed.get(streamId) ?? Number.POSITIVE_INFINITY)
    const added = findNotStored(store, archives).filter(
      ({ stem, parts }) => parts.every(isThere) && !leaving.has(`record ${recordName(stem)}`),
    )
    const reach = new Map<string, number>()
    for (const { streamId, bytes } of added.flatMap(({ parts }) => parts))
      if (streamId !== null) reach.set(streamId, Math.max(bytes, reach.get(streamId) ?? 0))
    for (const segment of segments) if (segment.from < (reach.get(segment.streamId) ?? 0)) store.putSegment(segment)
    for (const archive of added) store.putArchive(archive)
    step?.('wrote the rows')
    return added
  })
}

/** Returns archives that the store lacks, or has with fewer transcripts. */
function findNotStored(store: Store, archives: readonly ArchiveRecord[]): ArchiveRecord[] {
  const byStem = new Map(store.archives().map((archive) => [archive.stem, archive]))
  return archives.filter((archive) => {
    const stored = byStem.get(archive.stem)
    if (!stored) return store.archive(archive.archiveId) === null
    return stored.archiveId === archive.archiveId && countKeptParts(stored) < countKeptParts(archive)
  })
}
