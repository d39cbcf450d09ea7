import type { ArchiveRecord } from '../../contract/archive.js'
import { BatonError, reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Store } from '../../store/store.js'
import type { Blocks } from '../blocks.js'
import { bytesNeeded } from '../choose-to-drop.js'
import { nextTry } from '../next-try.js'
import type { HealingIndex } from './healing-index.js'
import { indexStream, type ReadLine } from './index-stream.js'
import type { Index } from './open-index.js'

export interface SearchableParts {
  store: Store
  blocks: Blocks
  index: HealingIndex
  now(): Date
  log: Log
  readerOf(agent: string, chain: 'main' | 'subagent'): ReadLine | null
}

/** An index that is found lost or damaged on the way makes all archives wait once more; twice in one go, and it is left for another time. */
const ROUNDS = 3

/** Puts every kept archive into the index that is not in it yet. Whatever goes wrong costs only the search: the archives are kept. */
export function makeSearchable(parts: SearchableParts, progress: (bytes: number) => void): void {
  for (let round = 0; round < ROUNDS; round++) {
    const waiting = notSearchable(parts.store, parts.now())
    if (waiting.length === 0) return
    for (const record of waiting) makeOne(parts, record, progress)
  }
}

/** What is kept and could be put into the index now. */
export function notSearchable(store: Store, now: Date): ArchiveRecord[] {
  const due = now.toISOString()
  return store.openArchives().filter(({ status, retryAt }) => status === 'kept' && (retryAt ?? '') <= due)
}

function makeOne(parts: SearchableParts, planned: ArchiveRecord, progress: (bytes: number) => void): void {
  const { store, index, now, log } = parts
  const { archiveId, parts: transcripts } = planned
  let trouble: string | null = null
  let used: Index | null = null
  try {
    used = index.use((into) => {
      addArchive(parts, into, store.archive(archiveId), progress)
      return into
    })
  } catch (error) {
    if (error instanceof BatonError) throw error
    trouble = `it cannot be searched: ${reasonOf(error)}`
    log('warn', 'an archive could not be made searchable', { archive: archiveId, reason: reasonOf(error) })
  }
  store.transaction(() => {
    const record = store.archive(archiveId)
    // Put into a file that was replaced meanwhile, it is in no index, and waits on.
    const counts = used === null || used.isCurrent()
    if (record?.status === 'kept' && counts) store.putArchive(told(record, trouble, now()))
    // Forgotten meanwhile: what was put into the index has to come out again.
    if (record) return
    const need = bytesNeeded(store.archives())
    for (const { streamId } of transcripts)
      if (streamId !== null) store.putLeftover(`index ${streamId} ${need.get(streamId) ?? 0}`)
  })
}

function addArchive(
  { store, blocks, readerOf }: SearchableParts,
  into: Index,
  record: ArchiveRecord | null,
  progress: (bytes: number) => void,
): void {
  for (const { streamId, name, bytes } of record?.parts ?? []) {
    const read = readerOf(record!.agent, name === '' ? 'main' : 'subagent')
    if (streamId !== null && read) indexStream(into, blocks, store.segments({ streamId }), bytes, read, progress)
  }
}

function told(record: ArchiveRecord, trouble: string | null, now: Date): ArchiveRecord {
  if (trouble === null) return { ...record, indexed: true, reason: null, retryAt: null, attempts: 0 }
  const attempts = record.attempts + 1
  return { ...record, indexed: false, reason: trouble, attempts, retryAt: nextTry(attempts, now) }
}
