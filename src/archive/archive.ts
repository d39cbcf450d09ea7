import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Policy } from '../contract/policy.js'
import type { Archive, ArchiveRecord, Hit, SegmentRecord } from '../contract/records/archive.js'
import type { NewEvent } from '../contract/records/event.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { isAlive, processInfo } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { type AdoptDependencies, type Adoption, adoptArchives } from './adopt-archives.js'
import { archivePlaces, type Places } from './archive-folders.js'
import { type Blocks, makeBlocks } from './blocks.js'
import { bytesNeeded, chooseToDrop, configuredRounds, needed, type Retention, sizeOf } from './choose-to-drop.js'
import { countUnknown } from './find-unknown.js'
import { finishArchives } from './finish-archives.js'
import { hasWork } from './has-work.js'
import { recordName, writeMissingRecords, writeRecord } from './record-file.js'
import { removeArchives, sweep } from './remove-archives.js'
import { healingIndex } from './search/healing-index.js'
import { type ReadLine, unindexStream } from './search/index-stream.js'
import { makeSearchable, notSearchable } from './search/make-searchable.js'
import { indexBytes } from './search/open-index.js'
import { explainSearch, type SearchRequest, searchArchives } from './search/search-archives.js'
import { removeTemporary } from './temporary-files.js'
import type { TimeLimit } from './time-limit.js'
import { type Verification, verifyArchives } from './verify-archives.js'
import { viewArchives } from './view-archives.js'

export interface ArchivesDependencies {
  store: Store
  /** The folder of everything of Baton's. */
  root: string
  now(): Date
  newId(): string
  log: Log
  /** The entries of one line of an agent's transcript; null: nobody knows that agent's. */
  readerOf(agent: string, chain: 'main' | 'subagent'): ReadLine | null
  legacy: AdoptDependencies['legacy']
}

interface AdoptRequest {
  /** Check everything and change nothing. */
  dryRun?: boolean
  progress?(what: 'check' | 'index', bytes: number): void
  /** Called between the steps; a test ends the process there. */
  step?(name: string): void
}

export interface FinishOptions {
  /** Only this session's. */
  sessionId?: string
  /** Inside the transaction that settles an archive, kept or given up for good: for events that must not be lost. */
  settled?(record: ArchiveRecord): void
  /** Bytes read, so far so many more; `what` is being done with them. */
  progress?(what: 'keep' | 'index', bytes: number): void
  /** The time for this call; the rest of the work is left for a later one. Absent: everything is done. */
  limit?: TimeLimit
}

export interface Removed {
  archives: Archive[]
  freedBytes: number
}

/** Everything that is done with archives, but for planning them (`plan-archive.ts`), which a hook has to afford. */
export interface Archives {
  readonly places: Places
  readonly blocks: Blocks
  /** Keeps what is planned and makes it searchable. Takes as long as it takes: for a process nobody waits for, or one that shows progress. */
  finish(options?: FinishOptions): ArchiveRecord[]
  /** Whether there is anything to finish now. One look into the store. */
  waiting(): boolean
  /** Oldest first. */
  view(records: readonly ArchiveRecord[]): Archive[]
  /** By its id or the beginning of it. Throws a BatonError when there is none, or several begin so. */
  find(id: string): ArchiveRecord
  segments(streamId: string | null): SegmentRecord[]
  /**
   * Archives that are not searchable yet are made so first, as far as `within` allows: all of them
   * where the index was lost or damaged.
   */
  search(request: SearchRequest): Hit[]
  /** Archives that a search does not look into yet: not copied, or not in the index. */
  unread(): ArchiveRecord[]
  /**
   * Takes archives on the disk that the store does not know into the store, and makes them
   * searchable.
   */
  adopt(request?: AdoptRequest): Adoption
  /** Number of archives that `adopt` would look at. Reads names and record files only. */
  unknown(): number
  verify(records: readonly ArchiveRecord[], progress?: (bytes: number) => void): Verification
  /** What a retention drops. */
  choose(retention: Retention, among?: (record: ArchiveRecord) => boolean): ArchiveRecord[]
  /** What removing archives would free. */
  frees(records: readonly ArchiveRecord[]): number
  /** Removes archives from the disk and from the index, and what others need stays. `thorough`: no word of them stays in the index either. */
  remove(records: readonly ArchiveRecord[], options?: { thorough?: boolean }): Removed
  /** Drops what the configuration says is too old or too much. For those who finish archives; cheap where it says nothing. */
  retain(rulesOf: (project: string | null) => Pick<Policy['archive'], 'keepDays' | 'keepBytes'>): Removed
  /** Drops archives whose transcript the client has deleted or is to delete by a period that somebody set. */
  expire(isExpired: (record: ArchiveRecord) => boolean): Removed
  /** For `settled`: what tells others of an archive that was kept; null: this one was not. */
  createdEvent(record: ArchiveRecord): NewEvent | null
  sizes(): { archives: number; bytes: number; indexBytes: number }
  close(): void
}

export function makeArchives(deps: ArchivesDependencies): Archives {
  const { store, log } = deps
  const places = archivePlaces(deps.root)
  const blocks = makeBlocks(places.folder)
  const index = healingIndex(places.index, store, log)
  const unindex = (streamId: string, from: number): boolean => {
    try {
      index.use((open) => unindexStream(open, streamId, from))
      return true
    } catch (error) {
      log('warn', 'archives could not be taken out of the index', { reason: reasonOf(error) })
      return false
    }
  }
  const removing = { store, places, unindex }
  const view = (records: readonly ArchiveRecord[]): Archive[] => {
    // Archives of different sessions share nothing: one session's can be told without the others'.
    const sessions = new Set(records.map(({ sessionId }) => sessionId))
    const query = sessions.size === 1 ? { sessionId: [...sessions][0]! } : {}
    const all = viewArchives(store.archives(query), store.segments(query), {
      pathOf: (file) => join(places.folder, file),
      titleOf: (sessionId) => store.session(sessionId)?.title?.text ?? null,
    })
    const wanted = new Set(records.map(({ archiveId }) => archiveId))
    return all.filter(({ archive_id: id }) => wanted.has(id))
  }

  const choose: Archives['choose'] = (retention, among = () => true) =>
    chooseToDrop(store.archives().filter(among), store.segments(), retention)
  const remove: Archives['remove'] = (records, { thorough = false } = {}) => {
    const archives = view(records)
    const freedBytes = removeArchives(removing, records)
    if (thorough && records.length > 0) {
      try {
        index.use((open) => open.compact())
      } catch (error) {
        log('warn', 'the index could not be made smaller', { reason: reasonOf(error) })
      }
    }
    return { archives, freedBytes }
  }

  return {
    places,
    blocks,
    view,
    waiting: () => hasWork(store, deps.now()),
    finish(options = {}) {
      const self = { ...(processInfo(process.pid) ?? { pid: process.pid, startedAt: '' }), where: whereabouts() }
      const { sessionId, settled, progress, limit } = options
      const made = finishArchives(
        {
          store,
          places,
          self,
          isAlive,
          log,
          now: deps.now,
          newId: deps.newId,
          ...(settled ? { settled } : {}),
          ...(limit ? { limit } : {}),
          ...(progress ? { progress: (bytes: number) => progress('keep', bytes) } : {}),
        },
        sessionId === undefined ? undefined : { sessionId },
      )
      writeMissingRecords(store, places, self.where, log, sessionId === undefined ? {} : { sessionId })
      if (store.leftovers().length > 0) sweep(removing)
      makeSearchable({ ...deps, blocks, index }, (bytes) => progress?.('index', bytes), limit)
      if (store.leftovers().length > 0) sweep(removing)
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
      const ask = (): Hit[] =>
        index.use((open) =>
          searchArchives({ index: open, blocks, records: store.archives(), readerOf, segmentsOf }, request),
        )
      const before = index.changes()
      try {
        const hits = ask()
        // Another process may be making it again right now.
        if (index.changes() === before && notSearchable(store, deps.now()).length === 0) return hits
        makeSearchable({ ...deps, blocks, index }, (bytes) => request.progress?.(bytes), request.within)
        return ask()
      } catch (error) {
        throw explainSearch(error)
      }
    },
    unread: () => store.openArchives(),
    adopt({ dryRun = false, progress, step } = {}) {
      const where = whereabouts()
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
        // The index may have outlived the store. What it knows of streams that no archive names
        // could never be forgotten.
        const indexed = open.sql('SELECT stream FROM streams').all() as { stream: string }[]
        const named = bytesNeeded(store.archives())
        for (const { stream } of indexed) if (!named.has(stream)) unindexStream(open, stream, 0)
      })
      step?.('cleaned the index')
      makeSearchable({ ...deps, blocks, index }, (bytes) => progress?.('index', bytes))
      return found
    },
    unknown: () => countUnknown(store, places),
    verify(records, progress) {
      for (const folder of [places.folder, places.records]) removeTemporary(folder, whereabouts(), deps.now())
      return verifyArchives(places, makeBlocks(places.folder, 0), records, store.segments(), progress)
    },
    choose,
    frees(records) {
      const gone = new Set(records.map(({ archiveId }) => archiveId))
      const left = store.archives().filter(({ archiveId }) => !gone.has(archiveId))
      return sizeOf(store.segments()) - sizeOf(needed(left, store.segments()))
    },
    remove,
    retain(rulesOf) {
      const total: Removed = { archives: [], freedBytes: 0 }
      for (const { among, retention } of configuredRounds(store.archives(), rulesOf, deps.now())) {
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
      bytes: sizeOf(store.segments()),
      indexBytes: indexBytes(places.index),
    }),
    close: index.close,
  }
}

const LEAST = 4

function findArchive(store: Store, id: string): ArchiveRecord {
  const exact = store.archive(id) ?? store.archive(`arc_${id}`)
  if (exact) return exact
  const bare = id.replace(/^arc_/, '')
  const alike = store.archives().filter(({ archiveId }) => archiveId.startsWith(`arc_${bare}`))
  if (alike.length === 1 && bare.length >= LEAST) return alike[0]!
  if (alike.length > 1 && bare.length >= LEAST) {
    throw ambiguousId(
      'archives',
      id,
      alike.map(({ archiveId }) => archiveId),
    )
  }
  const short = bare.length < LEAST && alike.length > 0 ? 'Give at least four characters of the id. ' : ''
  throw new BatonError(`There is no archive "${id}".`, `${short}baton archive list shows them all.`, EXIT.notFound)
}

/** What tells others that an archive is kept. */
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
 * Among which processes a pid of this one means something: a container shares its host's files and not its pids. Without the boot, so
 * that what a machine left when it went down counts for nothing once it is up again.
 */
export function whereabouts(): string {
  return `${hostname()} ${pidNamespace()}`.trim()
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
