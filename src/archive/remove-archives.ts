import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchiveRecord } from '../contract/records/archive.js'
import type { Store } from '../store/store.js'
import type { Places } from './archive-folders.js'
import { bytesNeeded } from './choose-to-drop.js'
import { fileName } from './file-name.js'
import { STUCK } from './has-work.js'
import { recordName } from './record-file.js'
import { streamsOf } from './view-archives.js'

interface RemoveDependencies {
  store: Store
  places: Places
  /** Forgets what a stream holds from a byte on; true when it could. */
  unindex(streamId: string, from: number): boolean
}

/**
 * Removes archives, and of their files those that no other archive needs. First one transaction that says what is to go, then the files and
 * the index: a process that ends between them leaves word, and `sweep` of the next one goes on. Returns the bytes freed.
 */
export function removeArchives(deps: RemoveDependencies, chosen: readonly ArchiveRecord[]): number {
  const { store } = deps
  store.transaction(() => {
    // As they are now: one may have been kept, and others built on it, since they were chosen.
    const records = chosen.flatMap(({ archiveId }) => store.archive(archiveId) ?? [])
    for (const { archiveId, sessionId, parts: transcripts, status, stem } of records) {
      if (status === 'kept') rememberDropped(store, sessionId, transcripts[0]?.bytes ?? 0)
      store.dropArchive(archiveId)
      store.putLeftover(`record ${recordName(stem)}`)
      for (const { link, name } of transcripts) {
        if (link !== null) store.putLeftover(`link ${link}`)
        // A process may have given it its name and ended before it could say so.
        if (status !== 'kept') store.putLeftover(`file ${fileName(stem, name)}`)
      }
    }
    const touched = new Set(records.flatMap((record) => record.parts.flatMap(({ streamId }) => streamId ?? [])))
    const need = bytesNeeded(store.archives())
    for (const [streamId, segments] of streamsOf(store.segments())) {
      if (!touched.has(streamId)) continue
      const left = need.get(streamId) ?? 0
      for (const segment of segments.filter(({ from }) => from >= left)) {
        store.dropSegment(segment.file)
        store.putLeftover(`file ${segment.file}`)
      }
      if (left < segments.at(-1)!.to) store.putLeftover(`index ${streamId} ${left}`)
    }
  })
  return sweep(deps)
}

/** The transcript is still there: without this the next sweep would archive it again. */
function rememberDropped(store: Store, sessionId: string, bytes: number): void {
  const session = store.session(sessionId)
  if (session !== null && bytes > (session.droppedBytes ?? 0)) store.putSession({ ...session, droppedBytes: bytes })
}

/** Removes what nobody names any more. Returns the bytes of archive files that went. */
export function sweep({ store, places, unindex }: RemoveDependencies): number {
  let freed = 0
  for (const item of store.leftovers()) {
    const [what, name = '', from = '0'] = item.replace(STUCK, '').split(' ')
    if (what === 'index') {
      if (!unindex(name, Number(from))) {
        if (!item.startsWith(STUCK)) rename(store, item, STUCK + item)
        continue
      }
      store.transaction(() => {
        store.dropLeftover(item)
        // What was added to the stream meanwhile went with it.
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

function rename(store: Store, item: string, to: string): void {
  store.transaction(() => {
    store.dropLeftover(item)
    store.putLeftover(to)
  })
}
