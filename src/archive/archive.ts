import { join } from 'node:path'
import type { Archive, ArchiveRecord, Hit, SegmentRecord } from '../contract/archive.js'
import type { NewEvent } from '../contract/event.js'
import type { Policy } from '../contract/policy.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { isAlive, processInfo } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { type Blocks, makeBlocks } from './blocks.js'
import { chooseToDrop, needed, type Retention, sizeOf } from './choose-to-drop.js'
import { configuredRounds } from './configured-retention.js'
import { createdEvent } from './created-event.js'
import { finishArchives } from './finish-archives.js'
import { hasWork } from './has-work.js'
import { archivePlaces, type Places } from './places.js'
import { removeArchives, sweep } from './remove-archives.js'
import { explainSearch } from './search/explain-search.js'
import { healingIndex } from './search/healing-index.js'
import { type ReadLine, unindexStream } from './search/index-stream.js'
import { makeSearchable, notSearchable } from './search/make-searchable.js'
import { indexBytes } from './search/open-index.js'
import { type SearchRequest, searchArchives } from './search/search-archives.js'
import { removeTemporary } from './temporary-files.js'
import { type Verification, verifyArchives } from './verify-archives.js'
import { viewArchives } from './view-archives.js'
import { whereabouts } from './whereabouts.js'

export interface ArchivesParts {
  store: Store
  /** The folder of everything of Baton's. */
  root: string
  now(): Date
  newId(): string
  log: Log
  /** The entries of one line of an agent's transcript; null: nobody knows that agent's. */
  readerOf(agent: string, chain: 'main' | 'subagent'): ReadLine | null
}

export interface FinishOptions {
  /** Only this session's. */
  sessionId?: string
  /** Inside the transaction that settles an archive, kept or given up for good: for events that must not be lost. */
  settled?(record: ArchiveRecord): void
  /** Bytes read, so far so many more; `what` is being done with them. */
  progress?(what: 'keep' | 'index', bytes: number): void
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
  /** What is kept and not searchable yet is made so first, also all of it where the index is lost or damaged: that takes as long as it takes. */
  search(request: SearchRequest): Hit[]
  verify(records: readonly ArchiveRecord[], progress?: (bytes: number) => void): Verification
  /** What a retention drops. */
  choose(retention: Retention, among?: (record: ArchiveRecord) => boolean): ArchiveRecord[]
  /** What removing archives would free. */
  frees(records: readonly ArchiveRecord[]): number
  /** Removes archives from the disk and from the index, and what others need stays. `thorough`: no word of them stays in the index either. */
  remove(records: readonly ArchiveRecord[], options?: { thorough?: boolean }): Removed
  /** Drops what the configuration says is too old or too much. For those who finish archives; cheap where it says nothing. */
  retain(rulesOf: (project: string | null) => Pick<Policy['archive'], 'keepDays' | 'keepBytes'>): Removed
  /** For `settled`: what tells others of an archive that was kept; null: this one was not. */
  createdEvent(record: ArchiveRecord): NewEvent | null
  sizes(): { archives: number; bytes: number; indexBytes: number }
  close(): void
}

export function makeArchives(parts: ArchivesParts): Archives {
  const { store, log } = parts
  const places = archivePlaces(parts.root)
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
    const all = viewArchives(store.archives(query), store.segments(query), (file) => join(places.folder, file))
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
    waiting: () => hasWork(store, parts.now()),
    finish(options = {}) {
      const self = { ...(processInfo(process.pid) ?? { pid: process.pid, startedAt: '' }), where: whereabouts() }
      const { sessionId, settled, progress } = options
      const made = finishArchives(
        {
          ...{ store, places, self, isAlive, log, now: parts.now, newId: parts.newId },
          ...(settled ? { settled } : {}),
          ...(progress ? { progress: (bytes: number) => progress('keep', bytes) } : {}),
        },
        sessionId === undefined ? undefined : { sessionId },
      )
      if (store.leftovers().length > 0) sweep(removing)
      makeSearchable({ ...parts, blocks, index }, (bytes) => progress?.('index', bytes))
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
      const { readerOf } = parts
      const ask = (): Hit[] =>
        index.use((open) => searchArchives({ index: open, blocks, records: store.archives(), readerOf, segmentsOf }, request))
      const before = index.changes()
      try {
        const hits = ask()
        // Another process may be making it again right now.
        if (index.changes() === before && notSearchable(store, parts.now()).length === 0) return hits
        makeSearchable({ ...parts, blocks, index }, (bytes) => request.progress?.(bytes))
        return ask()
      } catch (error) {
        throw explainSearch(error)
      }
    },
    verify(records, progress) {
      removeTemporary(places.folder, whereabouts(), parts.now())
      return verifyArchives(places, makeBlocks(places.folder, 0), records, store.segments(), store.openArchives(), progress)
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
      for (const { among, retention } of configuredRounds(store.archives(), rulesOf, parts.now())) {
        const records = choose(retention, among)
        if (records.length === 0) continue
        const { archives, freedBytes } = remove(records)
        total.archives.push(...archives)
        total.freedBytes += freedBytes
      }
      return total
    },
    createdEvent(record) {
      if (record.status !== 'kept') return null
      return createdEvent(record, view([record])[0]!, store.session(record.sessionId), parts.now())
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
    const names = alike.slice(0, 4).map(({ archiveId }) => archiveId)
    throw new BatonError(`${alike.length} archives begin with "${id}".`, `Give more of the id: ${names.join(', ')}.`, EXIT.usage)
  }
  const short = bare.length < LEAST && alike.length > 0 ? 'Give at least four characters of the id. ' : ''
  throw new BatonError(`There is no archive "${id}".`, `${short}baton archive list shows them all.`, EXIT.notFound)
}
