import type { ArchiveRecord } from '../../contract/archive.js'
import { BatonError, reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Store } from '../../store/store.js'
import type { Blocks } from '../blocks.js'
import { bytesNeeded } from '../choose-to-drop.js'
import { nextTry } from '../next-try.js'
import { indexStream, type ReadLine } from './index-stream.js'
import type { Index } from './open-index.js'

export interface SearchableParts {
  store: Store
  blocks: Blocks
  /** Throws when it cannot be opened. */
  index(): Index
  now(): Date
  log: Log
  readerOf(agent: string, chain: 'main' | 'subagent'): ReadLine | null
}

/** Puts every kept archive into the index that is not in it yet. Whatever goes wrong costs only the search: the archives are kept. */
export function makeSearchable(parts: SearchableParts, progress: (bytes: number) => void): void {
  const { store, now, log } = parts
  for (const { archiveId, status, retryAt, parts: transcripts } of store.openArchives()) {
    if (status !== 'kept' || (retryAt ?? '') > now().toISOString()) continue
    // Opening the index may have found it empty, and all archives waiting.
    let trouble: string | null = null
    try {
      addArchive(parts, store.archive(archiveId), progress)
    } catch (error) {
      if (error instanceof BatonError) throw error
      trouble = `it cannot be searched: ${reasonOf(error)}`
      log('warn', 'an archive could not be made searchable', { archive: archiveId, reason: reasonOf(error) })
    }
    store.transaction(() => {
      const record = store.archive(archiveId)
      if (record?.status === 'kept') store.putArchive(told(record, trouble, now()))
      // Forgotten meanwhile: what was put into the index has to come out again.
      if (record) return
      const need = bytesNeeded(store.archives())
      for (const { streamId } of transcripts)
        if (streamId !== null) store.putLeftover(`index ${streamId} ${need.get(streamId) ?? 0}`)
    })
  }
}

function addArchive(
  { store, blocks, index, readerOf }: SearchableParts,
  record: ArchiveRecord | null,
  progress: (bytes: number) => void,
): void {
  const into = index()
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
