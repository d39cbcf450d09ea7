import type { ArchiveRecord } from '../../contract/records/archive.js'
import { BatonError, reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Store } from '../../store/store.js'
import type { Blocks } from '../blocks.js'
import { bytesNeeded } from '../choose-to-drop.js'
import { nextRetryAt, type TimeLimit } from '../time-limit.js'
import type { RebuildingIndex } from './healing-index.js'
import { indexStream, type TranscriptLineParser } from './index-stream.js'
import type { SearchIndex } from './open-index.js'

interface IndexDependencies {
  store: Store
  blocks: Blocks
  index: RebuildingIndex
  now(): Date
  log: Log
  readerOf(agent: string, chain: 'main' | 'subagent'): TranscriptLineParser | null
}

/**
 * Maximum number of rounds in one call, because a lost index makes all archives wait again.
 * After the last round, the rest is left for another call.
 */
const ROUNDS = 3

/**
 * Indexes every kept archive that is not indexed yet, until the limit; the next call continues.
 * Errors affect only the search: the archives stay kept.
 */
export function indexArchives(deps: IndexDependencies, progress: (bytes: number) => void, limit?: TimeLimit): void {
  for (let round = 0; round < ROUNDS; round++) {
    const waiting = findUnindexed(deps.store, deps.now())
    if (waiting.length === 0) return
    for (const record of waiting) {
      if (limit?.isOver()) return
      indexArchive(deps, record, progress, limit)
    }
  }
}

/** Returns kept archives that can be indexed now. */
export function findUnindexed(store: Store, now: Date): ArchiveRecord[] {
  const due = now.toISOString()
  return store.openArchives().filter(({ status, retryAt }) => status === 'kept' && (retryAt ?? '') <= due)
}

function indexArchive(
  deps: IndexDependencies,
  planned: ArchiveRecord,
  progress: (bytes: number) => void,
  limit?: TimeLimit,
): void {
  const { store, index, now, log } = deps
  const { archiveId, parts: transcripts } = planned
  let trouble: string | null = null
  let used: SearchIndex | null = null
  let isWhole = true
  try {
    used = index.use((into) => {
      isWhole = addArchive(deps, into, store.archive(archiveId), progress, limit)
      return into
    })
  } catch (error) {
    if (error instanceof BatonError) throw error
    trouble = `it cannot be indexed: ${reasonOf(error)}`
    log('warn', 'an archive could not be indexed', { archive: archiveId, reason: reasonOf(error) })
  }
  store.transaction(() => {
    const record = store.archive(archiveId)
    // An archive indexed in a file that was replaced meanwhile is in no index.
    const counts = used === null || (used.isCurrent() && isWhole)
    if (record?.status === 'kept' && counts) store.putArchive(withIndexResult(record, trouble, now()))
    // The archive was removed meanwhile, so its index entries must be deleted again.
    if (record) return
    const need = bytesNeeded(store.archives())
    for (const { streamId } of transcripts)
      if (streamId !== null) store.putLeftover(`index ${streamId} ${need.get(streamId) ?? 0}`)
  })
}

/** Returns false when the limit ended before the whole archive was indexed. */
function addArchive(
  { store, blocks, readerOf }: IndexDependencies,
  into: SearchIndex,
  record: ArchiveRecord | null,
  progress: (bytes: number) => void,
  limit?: TimeLimit,
): boolean {
  let isWhole = true
  for (const { streamId, name, bytes } of record?.parts ?? []) {
    const read = readerOf(record!.agent, name === '' ? 'main' : 'subagent')
    if (streamId === null || !read) continue
    isWhole &&= indexStream(into, blocks, store.segments({ streamId }), bytes, { read, progress, limit })
  }
  return isWhole
}

function withIndexResult(record: ArchiveRecord, trouble: string | null, now: Date): ArchiveRecord {
  if (trouble === null) return { ...record, indexed: true, reason: null, retryAt: null, attempts: 0 }
  const attempts = record.attempts + 1
  return { ...record, indexed: false, reason: trouble, attempts, retryAt: nextRetryAt(attempts, now) }
}
