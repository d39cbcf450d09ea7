import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchiveRecord } from '../contract/archive.js'
import type { Store } from '../store/store.js'
import { bytesNeeded } from './choose-to-drop.js'
import { fileName } from './file-name.js'
import { STUCK } from './has-work.js'
import type { Places } from './places.js'
import { streamsOf } from './view-archives.js'

export interface RemoveParts {
  store: Store
  places: Places
  /** Forgets what a stream holds from a byte on; true when it could. */
  unindex(streamId: string, from: number): boolean
}

/**
 * Removes archives, and of their files those that no other archive needs. First one transaction that says what is to go, then the files and
 * the index: a process that ends between them leaves word, and `sweep` of the next one goes on. Returns the bytes freed.
 */
export function removeArchives(parts: RemoveParts, chosen: readonly ArchiveRecord[]): number {
  const { store } = parts
  store.transaction(() => {
    // As they are now: one may have been kept, and others built on it, since they were chosen.
    const records = chosen.flatMap(({ archiveId }) => store.archive(archiveId) ?? [])
    for (const { archiveId, parts: transcripts, status, stem } of records) {
      store.dropArchive(archiveId)
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
  return sweep(parts)
}

/** Removes what nobody names any more. Returns the bytes of archive files that went. */
export function sweep({ store, places, unindex }: RemoveParts): number {
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
    const path = join(what === 'link' ? places.links : places.folder, name)
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
