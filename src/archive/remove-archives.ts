import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchiveRecord } from '../contract/records/archive.js'
import type { Store } from '../store/store.js'
import type { ArchivePaths } from './archive-folders.js'
import { bytesNeeded } from './choose-to-drop.js'
import { fileName } from './file-name.js'
import { STUCK_PREFIX } from './has-work.js'
import { recordName } from './record-file.js'
import { groupByStream } from './view-archives.js'

interface RemoveDependencies {
  store: Store
  places: ArchivePaths
  /** Deletes what the search index holds of a stream from a byte on. Returns true on success. */
  unindex(streamId: string, from: number): boolean
}

/**
 * Removes archives, and their files unless other archives need them. Returns the bytes freed.
 * A transaction first records what to delete. Then files and index entries are deleted.
 * If the process is killed in between, the next process continues with the rest.
 */
export function removeArchives(deps: RemoveDependencies, chosen: readonly ArchiveRecord[]): number {
  const { store } = deps
  store.transaction(() => {
    // Read the archives again. Another archive may have been stored or built upon these meanwhile.
    const records = chosen.flatMap(({ archiveId }) => store.archive(archiveId) ?? [])
    for (const { archiveId, sessionId, parts: transcripts, status, stem } of records) {
      if (status === 'kept') rememberDropped(store, sessionId, transcripts[0]?.bytes ?? 0)
      store.dropArchive(archiveId)
      store.putLeftover(`record ${recordName(stem)}`)
      for (const { link, name } of transcripts) {
        if (link !== null) store.putLeftover(`link ${link}`)
        // A process may have given the file its name and died before it stored the record.
        if (status !== 'kept') store.putLeftover(`file ${fileName(stem, name)}`)
      }
    }
    const touched = new Set(records.flatMap((record) => record.parts.flatMap(({ streamId }) => streamId ?? [])))
    const need = bytesNeeded(store.archives())
    for (const [streamId, segments] of groupByStream(store.segments())) {
      if (!touched.has(streamId)) continue
      const left = need.get(streamId) ?? 0
      for (const segment of segments.filter(({ from }) => from >= left)) {
        store.dropSegment(segment.file)
        store.putLeftover(`file ${segment.file}`)
      }
      if (left < segments.at(-1)!.to) store.putLeftover(`index ${streamId} ${left}`)
    }
  })
  return deleteLeftovers(deps)
}

/**
 * Stores the size of a removed archive with its session.
 * The transcript still exists, and without the size it would be archived again.
 */
function rememberDropped(store: Store, sessionId: string, bytes: number): void {
  const session = store.session(sessionId)
  if (session !== null && bytes > (session.droppedBytes ?? 0)) store.putSession({ ...session, droppedBytes: bytes })
}

/** Deletes files, links and index entries that nothing references. Returns the bytes freed. */
export function deleteLeftovers({ store, places, unindex }: RemoveDependencies): number {
  let freed = 0
  for (const item of store.leftovers()) {
    const [what, name = '', from = '0'] = item.replace(STUCK_PREFIX, '').split(' ')
    if (what === 'index') {
      if (!unindex(name, Number(from))) {
        if (!item.startsWith(STUCK_PREFIX)) renameLeftover(store, item, STUCK_PREFIX + item)
        continue
      }
      store.transaction(() => {
        store.dropLeftover(item)
        // Index entries that were added to the stream meanwhile were deleted too.
        // Therefore index these archives again.
        for (const record of store.archives()) {
          if (record.indexed && record.parts.some(({ streamId }) => streamId === name))
            store.putArchive({ ...record, indexed: false })
        }
      })
      continue
    }
    const folder = what === 'link' ? places.links : what === 'record' ? places.records : places.folder
    const path = join(folder, name)
    if (what === 'file') freed += statSync(path, { throwIfNoEntry: false })?.size ?? 0
    rmSync(path, { force: true })
    store.transaction(() => store.dropLeftover(item))
  }
  return freed
}

function renameLeftover(store: Store, item: string, to: string): void {
  store.transaction(() => {
    store.dropLeftover(item)
    store.putLeftover(to)
  })
}
