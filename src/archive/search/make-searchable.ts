import type { ArchiveRecord } from '../../contract/records/archive.js'
import { BatonError, reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Store } from '../../store/store.js'
import type { Blocks } from '../blocks.js'
import { bytesNeeded } from '../choose-to-drop.js'
import { nextTry, type TimeLimit } from '../time-limit.js'
import type { HealingIndex } from './healing-index.js'
import { indexStream, type ReadLine } from './index-stream.js'
import type { Index } from './open-index.js'

interface IndexDependencies {
  store: Store
  blocks: Blocks
  index: HealingIndex
  now(): Date
  log: Log
  readerOf(agent: string, chain: 'main' | 'subagent'): ReadLine | null
}

/** An index that is found lost or damaged on the way makes all archives wait once more; twice in one go, and it is left for another time. */
const ROUNDS = 3

/**
 * Puts every kept archive into the index that is not in it yet, until the limit is over: the next
 * call continues there. Errors cost only the search: the archives are kept.
 */
export function makeSearchable(deps: IndexDependencies, progress: (bytes: number) => void, limit?: TimeLimit): void {
  for (let round = 0; round < ROUNDS; round++) {
    const waiting = notSearchable(deps.store, deps.now())
    if (waiting.length === 0) return
    for (const record of waiting) {
      if (limit?.isOver()) return
      makeOne(deps, record, progress, limit)
    }
  }
}

/** What is kept and could be put into the index now. */
export function notSearchable(store: Store, now: Date): ArchiveRecord[] {
  const due = now.toISOString()
  return store.openArchives().filter(({ status, retryAt }) => status === 'kept' && (retryAt ?? '') <= due)
}

function makeOne(
  deps: IndexDependencies,
  planned: ArchiveRecord,
  progress: (bytes: number) => void,
  limit?: TimeLimit,
): void {
  const { store, index, now, log } = deps
  const { archiveId, parts: transcripts } = planned
  let trouble: string | null = null
  let used: Index | null = null
  let isWhole = true
  try {
    used = index.use((into) => {
      isWhole = addArchive(deps, into, store.archive(archiveId), progress, limit)
      return into
    })
  } catch (error) {
    if (error instanceof BatonError) throw error
    trouble = `it cannot be searched: ${reasonOf(error)}`
    log('warn', 'an archive could not be made searchable', { archive: archiveId, reason: reasonOf(error) })
  }
  store.transaction(() => {
    const record = store.archive(archiveId)
    // An archive that was put into a file which was replaced meanwhile is in no index.
    const counts = used === null || (used.isCurrent() && isWhole)
    if (record?.status === 'kept' && counts) store.putArchive(told(record, trouble, now()))
    // Forgotten meanwhile: what was put into the index has to come out again.
    if (record) return
    const need = bytesNeeded(store.archives())
    for (const { streamId } of transcripts)
      if (streamId !== null) store.putLeftover(`index ${streamId} ${need.get(streamId) ?? 0}`)
  })
}

/** False when the limit was over before all of it was in the index. */
function addArchive(
  { store, blocks, readerOf }: IndexDependencies,
  into: Index,
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

function told(record: ArchiveRecord, trouble: string | null, now: Date): ArchiveRecord {
  if (trouble === null) return { ...record, indexed: true, reason: null, retryAt: null, attempts: 0 }
  const attempts = record.attempts + 1
  return { ...record, indexed: false, reason: trouble, attempts, retryAt: nextTry(attempts, now) }
}
