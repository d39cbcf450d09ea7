import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  ARCHIVE_TRIGGERS,
  type ArchivePart,
  type ArchiveRecord,
  type ArchiveTrigger,
  type SegmentRecord,
} from '../contract/records/archive.js'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { errorCodeOf, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { shortTitle } from '../lib/short-title.js'
import type { Store } from '../store/store.js'
import { type ArchivePaths, ensureFolder } from './archive-folders.js'
import { temporaryName } from './temporary-files.js'

/**
 * Version of the record file.
 * Increase the version when an older Baton would misread the file.
 * Older versions then ignore the archive.
 */
const FORMAT = 1
/** Largest record file that is read. A record with 10,000 segments has about 2 MB. */
const LARGEST = 64 * 1024 * 1024

/** Position of a segment. Its sizes and blocks are measured again from the file itself. */
export type SegmentPlace = Pick<SegmentRecord, 'streamId' | 'name' | 'from' | 'to' | 'file' | 'sha256'>

/**
 * Content of a record file, which restores one archive into an empty store with its files.
 */
export interface RecordFile {
  stem: string
  archiveId: string
  sessionId: string
  agent: string
  project: string | null
  trigger: ArchiveTrigger
  createdAt: string
  /** Title of the session, as in `ArchiveRecord`. */
  title?: string
  /** Time of the last write to the transcript, as in `ArchiveRecord`. */
  writtenAt?: string
  parts: Pick<ArchivePart, 'name' | 'path' | 'bytes' | 'streamId' | 'sha256' | 'trouble'>[]
  /** Every segment that the archive needs, including those written for older archives. */
  segments: SegmentPlace[]
}

type ReadRecord =
  | { state: 'read'; record: RecordFile }
  /**
   * `reason` says why the record cannot be used.
   * `newer` means that a newer Baton wrote the record, so its archive is not touched.
   */
  | { state: 'newer' | 'unusable'; reason: string }

export const recordName = (stem: string): string => `${stem}.json`
export const recordFileStem = (name: string): string => name.slice(0, -'.json'.length)

/** Returns the names of the record files, sorted. Empty when the folder cannot be listed. */
export function recordNames({ records }: ArchivePaths): string[] {
  try {
    return readdirSync(records)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort()
  } catch {
    return []
  }
}

/**
 * Writes the missing record files of kept archives. Runs between copying and indexing.
 * A process killed before leaves its archive unindexed, so the next `finish` comes here again.
 * A record that cannot be written is logged and tried again at the next call.
 */
export function writeMissingRecords(
  store: Store,
  places: ArchivePaths,
  where: string,
  log: Log,
  only: { sessionId?: string } = {},
): void {
  const present = new Set(recordNames(places))
  for (const archive of store.archives(only)) {
    if (archive.status !== 'kept' || present.has(recordName(archive.stem))) continue
    try {
      writeRecord(store, places, where, archive)
    } catch (error) {
      log('warn', 'the record file of an archive could not be written', {
        archive: archive.archiveId,
        reason: reasonOf(error),
      })
    }
  }
}

/** Writes one record file, replacing an existing one. Does nothing if the archive was removed. */
export function writeRecord(store: Store, places: ArchivePaths, where: string, archive: ArchiveRecord): void {
  ensureFolder(places.folder)
  ensureFolder(places.records)
  const name = recordName(archive.stem)
  const temporary = join(places.records, temporaryName(name, where))
  try {
    writeFileAtomic(temporary, `${JSON.stringify(toJson(archive, store))}\n`, { mode: 0o600, expect: null })
    // Inside a transaction, no other process can remove the archive between check and rename.
    store.transaction(() => {
      if (store.archive(archive.archiveId)?.status === 'kept') renameSync(temporary, join(places.records, name))
    })
  } finally {
    rmSync(temporary, { force: true })
  }
}

function toJson(archive: ArchiveRecord, store: Store): object {
  const segments = archive.parts.flatMap(({ streamId, bytes }) =>
    streamId === null ? [] : store.segments({ streamId }).filter(({ from }) => from < bytes),
  )
  return {
    format: FORMAT,
    stem: archive.stem,
    archive_id: archive.archiveId,
    session_id: archive.sessionId,
    agent: archive.agent,
    project: archive.project,
    trigger: archive.trigger,
    created_at: archive.createdAt,
    ...(archive.title === undefined ? {} : { title: archive.title }),
    ...(archive.writtenAt === undefined ? {} : { written_at: archive.writtenAt }),
    parts: archive.parts.map(({ name, path, bytes, streamId, sha256, trouble }) => ({
      name,
      path,
      bytes,
      stream_id: streamId,
      sha256,
      trouble,
    })),
    segments: segments.map(({ streamId, name, from, to, file, sha256 }) => ({
      stream_id: streamId,
      name,
      from,
      to,
      file,
      sha256,
    })),
  }
}

/** Reads a record file that may be damaged, forged or from another version. Never throws. */
export function readRecord(places: ArchivePaths, fileName: string): ReadRecord {
  let value: unknown
  try {
    value = JSON.parse(readOwnFile(join(places.records, fileName)))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is incomplete' : reasonOf(error)
    return { state: 'unusable', reason }
  }
  const format = isObject(value) ? value.format : undefined
  if (typeof format === 'number' && format > FORMAT)
    return {
      state: 'newer',
      reason: `a newer version of Baton wrote it (format ${format}; this version knows ${FORMAT})`,
    }
  if (isObject(value) && typeof value.trigger === 'string' && !isTrigger(value.trigger))
    return { state: 'newer', reason: `a newer version of Baton wrote it (trigger ${JSON.stringify(value.trigger)})` }
  const record = isObject(value) ? fromJson(value) : null
  if (record === null) return { state: 'unusable', reason: 'it is not the record of an archive' }
  if (recordName(record.stem) !== fileName) return { state: 'unusable', reason: 'it is the record of another archive' }
  return { state: 'read', record }
}

/**
 * Opens a file in Baton's own folders. Refuses links, pipes and files of other users. Never blocks.
 * Throws an error whose message is the reason. A missing file's error has ENOENT as its cause.
 */
export function openOwnFile(path: string): number {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ELOOP' || code === 'EMLINK') throw new Error('it is a symbolic link')
    if (code === 'ENOENT') throw new Error('it does not exist', { cause: error })
    throw new Error(`it cannot be read (${code})`)
  }
  const stat = fstatSync(fd)
  const trouble = !stat.isFile()
    ? 'it is not a regular file'
    : stat.uid !== process.getuid?.()
      ? `it belongs to another user (uid ${stat.uid})`
      : null
  if (trouble === null) return fd
  closeSync(fd)
  throw new Error(trouble)
}

function readOwnFile(path: string): string {
  const fd = openOwnFile(path)
  try {
    if (fstatSync(fd).size > LARGEST) throw new Error('it is too large')
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

type Fields = Record<string, unknown>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTrigger = (value: unknown): value is ArchiveTrigger => (ARCHIVE_TRIGGERS as readonly unknown[]).includes(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value)
const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isHash = (value: unknown): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value)
const isId = (value: unknown): value is string => isText(value) && /^[A-Za-z0-9_-]{1,80}$/.test(value)
/** True for a plain file name, so that no path leads out of the archive folder. */
const isFileName = (value: unknown): value is string => isText(value) && /^[A-Za-z0-9-][A-Za-z0-9._-]*$/.test(value)

function fromJson(value: Fields): RecordFile | null {
  const { stem, archive_id: archiveId, session_id: sessionId, agent, project, trigger, created_at: createdAt } = value
  const known =
    isFileName(stem) &&
    isId(archiveId) &&
    isText(sessionId) &&
    isText(agent) &&
    isTextOrNull(project) &&
    isTrigger(trigger) &&
    isText(createdAt) &&
    !Number.isNaN(Date.parse(createdAt))
  const parts = listOf(value.parts, partFromJson)
  const segments = listOf(value.segments, segmentFromJson)
  if (!known || parts === null || segments === null || parts[0]?.name !== '') return null
  const writtenAt = value.written_at
  const written = isText(writtenAt) && !Number.isNaN(Date.parse(writtenAt)) ? { writtenAt } : {}
  const title = isText(value.title) ? shortTitle(value.title) : null
  const titled = title === null ? {} : { title }
  return { stem, archiveId, sessionId, agent, project, ...titled, trigger, createdAt, ...written, parts, segments }
}

function partFromJson(value: Fields): RecordFile['parts'][number] | null {
  const { name, path, bytes, stream_id: streamId, sha256, trouble } = value
  if (!isText(name) || !isTextOrNull(path) || !isSize(bytes) || !isTextOrNull(trouble)) return null
  if (streamId !== null && !isId(streamId)) return null
  if (sha256 !== null && !isHash(sha256)) return null
  return { name, path, bytes, streamId, sha256, trouble }
}

function segmentFromJson(value: Fields): SegmentPlace | null {
  const { stream_id: streamId, name, from, to, file, sha256 } = value
  if (!isId(streamId) || !isText(name) || !isSize(from) || !isSize(to) || from >= to) return null
  return isFileName(file) && isHash(sha256) ? { streamId, name, from, to, file, sha256 } : null
}

/** Reads every element of a list. Null unless all elements are valid. */
function listOf<T>(value: unknown, read: (element: Fields) => T | null): T[] | null {
  if (!Array.isArray(value)) return null
  const elements = value.map((element) => (isObject(element) ? read(element) : null))
  return elements.every((element) => element !== null) ? (elements as T[]) : null
}
