import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Policy } from '../contract/policy.js'
import type { Archive, ArchiveRecord, SearchHit, SegmentRecord } from '../contract/records/archive.js'
import type { NewEvent } from '../contract/records/event.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { isAlive, processInfo } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { type AdoptDependencies, type AdoptionResult, adoptArchives } from './adopt-archives.js'
import { type ArchivePaths, archivePaths } from './archive-folders.js'
import { type Blocks, makeBlocks } from './blocks.js'
import {
  bytesNeeded,
  chooseToDelete,
  configuredRetentions,
  neededSegments,
  type RetentionRule,
  storedBytesOf,
} from './choose-to-drop.js'
import { countUnrecordedFiles } from './find-unknown.js'
import { finishArchives } from './finish-archives.js'
import { hasArchiveWork } from './has-work.js'
import { recordName, writeMissingRecords, writeRecord } from './record-file.js'
import { deleteLeftovers, removeArchives } from './remove-archives.js'
import { makeRebuildingIndex } from './search/healing-index.js'
import { type TranscriptLineParser, unindexStream } from './search/index-stream.js'
import { findUnindexed, indexArchives } from './search/make-searchable.js'
import { indexBytes } from './search/open-index.js'
import { explainSearchError, type SearchRequest, searchArchives } from './search/search-archives.js'
import { removeTemporary } from './temporary-files.js'
import type { TimeLimit } from './time-limit.js'
import { type VerificationResult, verifyArchives } from './verify-archives.js'
import { viewArchives } from './view-archives.js'

export interface ArchivesDependencies {
  store: Store
  /** Root folder of all of Baton's state. */
  root: string
  now(): Date
  newId(): string
  log: Log
  /**
   * Returns the function that parses a transcript line of this agent. Null for an unknown agent.
   */
  readerOf(agent: string, chain: 'main' | 'subagent'): TranscriptLineParser | null
  legacy: AdoptDependencies['legacy']
}

interface AdoptRequest {
  /** Checks everything but changes nothing. */
  dryRun?: boolean
  progress?(what: 'check' | 'index', bytes: number): void
  /** Called between the steps. A test kills the process there. */
  step?(name: string): void
}

export interface FinishOptions {
  /** Finishes only the archives of this session. */
  sessionId?: string
  /**
   * Called inside the transaction that stores an archive or fails it for good.
   * The caller stores events about the archive here, so that no event is lost.
   */
  onSettled?(record: ArchiveRecord): void
  /** Receives the number of bytes just processed and the phase: copying or indexing. */
  progress?(what: 'keep' | 'index', bytes: number): void
  /** Time limit of this call. A later call does the rest. Without a limit, everything is done. */
  limit?: TimeLimit
}

export interface RemovedArchives {
  archives: Archive[]
  freedBytes: number
}

/**
 * All operations on archives except planning (`plan-archive.ts`), which must be cheap in a hook.
 */
export interface Archives {
  readonly places: ArchivePaths
  readonly blocks: Blocks
  /**
   * Copies planned archives and indexes them.
   * May take long, so call the function in a background process or show progress.
   */
  finish(options?: FinishOptions): ArchiveRecord[]
  /** True when there is something to finish now. Costs one query. */
  hasWork(): boolean
  /** Returns archives as they are shown, oldest first. */
  view(records: readonly ArchiveRecord[]): Archive[]
  /** Finds an archive by id or id prefix. Throws a BatonError when none or several match. */
  find(id: string): ArchiveRecord
  segments(streamId: string | null): SegmentRecord[]
  /**
   * Searches the archives.
   * Archives that are not indexed yet are indexed first, within the time limit `within`.
   * After the index was lost or damaged, all archives are indexed again.
   */
  search(request: SearchRequest): SearchHit[]
  /** Returns archives that a search does not cover yet: not copied, or not indexed. */
  notSearchable(): ArchiveRecord[]
  /** Stores and indexes archives on the disk that the store does not know. */
  adopt(request?: AdoptRequest): AdoptionResult
  /** Returns the number of archives that `adopt` would check. Reads names and record files only. */
  countUnknown(): number
  verify(records: readonly ArchiveRecord[], progress?: (bytes: number) => void): VerificationResult
  /** Returns the archives that a retention rule deletes. */
  chooseToDelete(retention: RetentionRule, among?: (record: ArchiveRecord) => boolean): ArchiveRecord[]
  /** Returns the bytes that removing these archives would free. */
  freedBytes(records: readonly ArchiveRecord[]): number
  /**
   * Deletes archives from the disk and the index, except files that other archives need.
   * With `thorough`, no deleted text stays in the index file either.
   */
  remove(records: readonly ArchiveRecord[], options?: { thorough?: boolean }): RemovedArchives
  /** Deletes archives beyond the configured age or size. Cheap when neither is configured. */
  retain(rulesOf: (project: string | null) => Pick<Policy['archive'], 'keepDays' | 'keepBytes'>): RemovedArchives
  /** Deletes archives of transcripts whose configured cleanup period is over in the client. */
  expire(isExpired: (record: ArchiveRecord) => boolean): RemovedArchives
  /** Returns the `archive_created` event. Null when the archive was not kept. */
  createdEvent(record: ArchiveRecord): NewEvent | null
  sizes(): { archives: number; bytes: number; indexBytes: number }
  close(): void
}

export function makeArchives(deps: ArchivesDependencies): Archives {
  const { store, log } = deps
  const places = archivePaths(deps.root)
  const blocks = makeBlocks(places.folder)
  const index = makeRebuildingIndex(places.index, store, log)
  const unindex = (streamId: string, from: number): boolean => {
    try {
      index.use((open) => unindexStream(open, streamId, from))
      return true
    } catch (error) {
      log('warn', 'archives could not be removed from the index', { reason: reasonOf(error) })
      return false
    }
  }
  const removing = { store, places, unindex }
  const view = (records: readonly ArchiveRecord[]): Archive[] => {
    // Archives of different sessions share nothing, so one session can be shown without the others.
    const sessions = new Set(records.map(({ sessionId }) => sessionId))
    const query = sessions.size === 1 ? { sessionId: [...sessions][0]! } : {}
    const all = viewArchives(store.archives(query), store.segments(query), {
      pathOf: (file) => join(places.folder, file),
      titleOf: (sessionId) => store.session(sessionId)?.title?.text ?? null,
    })
    const wanted = new Set(records.map(({ archiveId }) => archiveId))
    return all.filter(({ archive_id: id }) => wanted.has(id))
  }

  const choose: Archives['chooseToDelete'] = (retention, among = () => true) =>
    chooseToDelete(store.archives().filter(among), store.segments(), retention)
  const remove: Archives['remove'] = (records, { thorough = false } = {}) => {
    const archives = view(records)
    const freedBytes = removeArchives(removing, records)
    if (thorough && records.length > 0) {
      try {
        index.use((open) => open.compact())
      } catch (error) {
        log('warn', 'the index could not be compacted', { reason: reasonOf(error) })
      }
    }
    return { archives, freedBytes }
  }

  return {
    places,
    blocks,
    view,
    hasWork: () => hasArchiveWork(store, deps.now()),
    finish(options = {}) {
      const self = { ...(processInfo(process.pid) ?? { pid: process.pid, startedAt: '' }), where: pidNamespaceId() }
      const { sessionId, onSettled: settled, progress, limit } = options
      const made = finishArchives(
        {
          store,
          places,
          self,
          isAlive,
          log,
          now: deps.now,
          newId: deps.newId,
          ...(settled ? { onSettled: settled } : {}),
          ...(limit ? { limit } : {}),
          ...(progress ? { progress: (bytes: number) => progress('keep', bytes) } : {}),
        },
        sessionId === undefined ? undefined : { sessionId },
      )
      writeMissingRecords(store, places, self.where, log, sessionId === undefined ? {} : { sessionId })
      if (store.leftovers().length > 0) deleteLeftovers(removing)
      indexArchives({ ...deps, blocks, index }, (bytes) => progress?.('index', bytes), limit)
      if (store.leftovers().length > 0) deleteLeftovers(removing)
      return made
    },
    find: (id) => findArchive(store, id),
    segments: (streamId) => (streamId === null ? [] : store.segments({ streamId })),
    search(request) {
      const known = new Map<string, SegmentRecord[]>()
      const segmentsOf = (streamId: string): SegmentRecord[] => {
        const segments = known.get(streamId) ?? store.segments({ streamId })
        known.set(streamId, segments)
        return segments
      }
      const { readerOf } = deps
      const ask = (): SearchHit[] =>
        index.use((open) =>
          searchArchives({ index: open, blocks, records: store.archives(), readerOf, segmentsOf }, request),
        )
      const before = index.changes()
      try {
        const hits = ask()
        // Another process may be rebuilding the index at this moment.
        if (index.changes() === before && findUnindexed(store, deps.now()).length === 0) return hits
        indexArchives({ ...deps, blocks, index }, (bytes) => request.progress?.(bytes), request.within)
        return ask()
      } catch (error) {
        throw explainSearchError(error)
      }
    },
    notSearchable: () => store.openArchives(),
    adopt({ dryRun = false, progress, step } = {}) {
      const where = pidNamespaceId()
      const checked = (bytes: number): void => progress?.('check', bytes)
      const found = adoptArchives({ store, places, legacy: deps.legacy }, { dryRun, progress: checked, step })
      if (dryRun) return found
      for (const folder of [places.folder, places.records]) removeTemporary(folder, where, deps.now())
      const unusable = new Set(found.skipped.map(({ path }) => path))
      for (const archive of found.adopted)
        if (unusable.has(join(places.records, recordName(archive.stem)))) writeRecord(store, places, where, archive)
      writeMissingRecords(store, places, where, log)
      step?.('wrote records')
      index.use((open) => {
        // The index may be older than the store.
        // Streams in the index that no archive references could never be erased.
        const indexed = open.sql('SELECT stream FROM streams').all() as { stream: string }[]
        const named = bytesNeeded(store.archives())
        for (const { stream } of indexed) if (!named.has(stream)) unindexStream(open, stream, 0)
      })
      step?.('cleaned the index')
      indexArchives({ ...deps, blocks, index }, (bytes) => progress?.('index', bytes))
      return found
    },
    countUnknown: () => countUnrecordedFiles(store, places),
    verify(records, progress) {
      for (const folder of [places.folder, places.records]) removeTemporary(folder, pidNamespaceId(), deps.now())
      return verifyArchives(places, makeBlocks(places.folder, 0), records, store.segments(), progress)
    },
    chooseToDelete: choose,
    freedBytes(records) {
      const gone = new Set(records.map(({ archiveId }) => archiveId))
      const left = store.archives().filter(({ archiveId }) => !gone.has(archiveId))
      return storedBytesOf(store.segments()) - storedBytesOf(neededSegments(left, store.segments()))
    },
    remove,
    retain(rulesOf) {
      const total: RemovedArchives = { archives: [], freedBytes: 0 }
      for (const { among, retention } of configuredRetentions(store.archives(), rulesOf, deps.now())) {
        const records = choose(retention, among)
        if (records.length === 0) continue
        const { archives, freedBytes } = remove(records)
        total.archives.push(...archives)
        total.freedBytes += freedBytes
      }
      return total
    },
    expire(isExpired) {
      const records = choose({ olderThan: deps.now().toISOString(), mostBytes: null }, isExpired)
      return records.length === 0 ? { archives: [], freedBytes: 0 } : remove(records)
    },
    createdEvent(record) {
      if (record.status !== 'kept') return null
      return createdEvent(record, view([record])[0]!, store.session(record.sessionId), deps.now())
    },
    sizes: () => ({
      archives: store.archives().length,
      bytes: storedBytesOf(store.segments()),
      indexBytes: indexBytes(places.index),
    }),
    close: index.close,
  }
}

const MIN_PREFIX = 4

function findArchive(store: Store, id: string): ArchiveRecord {
  const exact = store.archive(id) ?? store.archive(`arc_${id}`)
  if (exact) return exact
  const bare = id.replace(/^arc_/, '')
  const alike = store.archives().filter(({ archiveId }) => archiveId.startsWith(`arc_${bare}`))
  if (alike.length === 1 && bare.length >= MIN_PREFIX) return alike[0]!
  if (alike.length > 1 && bare.length >= MIN_PREFIX) {
    throw ambiguousId(
      'archives',
      id,
      alike.map(({ archiveId }) => archiveId),
    )
  }
  const short = bare.length < MIN_PREFIX && alike.length > 0 ? 'Give at least four characters of the id. ' : ''
  throw new BatonError(
    `There is no archive "${id}".`,
    `${short}Run baton archive list to see all archives.`,
    EXIT.notFound,
  )
}

/** Builds the `archive_created` event. */
function createdEvent(
  record: ArchiveRecord,
  { bytes, stored_bytes, sha256, path, subagents }: Archive,
  session: { seatId: string; jobId: string | null } | null,
  at: Date,
): NewEvent {
  const { archiveId, sessionId, trigger, createdAt } = record
  return {
    type: 'archive_created',
    at: at.toISOString(),
    session_id: sessionId,
    seat_id: session?.seatId ?? null,
    job_id: session?.jobId ?? null,
    data: {
      archive_id: archiveId,
      trigger,
      created_at: createdAt,
      bytes,
      stored_bytes,
      sha256,
      path,
      subagents: subagents.filter(({ sha256: hash }) => hash !== null).length,
    },
  }
}

/**
 * Identifies the PID namespace of this process, because a container shares files but not pids.
 * Excludes the boot id, so that leases from before a reboot are not held by anyone.
 */
export function pidNamespaceId(): string {
  return `${hostname()} ${pidNamespace()}`.trim()
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
