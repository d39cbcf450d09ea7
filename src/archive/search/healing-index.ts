import { reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Store } from '../../store/store.js'
import { fileIdentity, isIndexDamage, moveIndexAside, openIndex, type SearchIndex } from './open-index.js'

/** The search index of one process: opened on demand, and rebuilt when it is lost or damaged. */
export interface RebuildingIndex {
  /**
   * Runs `work` on the index. Throws when no index can be created.
   * A damaged index is deleted, and every archive is queued for indexing.
   * Then `work` runs again on an empty index.
   */
  use<T>(work: (index: SearchIndex) => T): T
  /**
   * Counts how often the index was rebuilt or replaced by another process.
   * Results from before such a change may be incomplete.
   */
  changes(): number
  close(): void
}

export function makeRebuildingIndex(path: string, store: Store, log: Log): RebuildingIndex {
  let opened: SearchIndex | null = null
  let file: string | null = null
  let changes = 0
  const close = (): void => {
    opened?.close()
    opened = null
  }
  const open = (): SearchIndex => {
    if (opened && !opened.isCurrent()) {
      close()
      changes++
    }
    if (opened) return opened
    file = fileIdentity(path)
    opened = openIndex(path, () => {
      markUnindexed(store)
      changes++
    })
    return opened
  }

  const replace = (error: unknown): void => {
    // The transaction keeps other processes from replacing the index meanwhile.
    // Nor can they mark an archive as indexed in the file that is deleted.
    store.transaction(() => {
      const isCurrent = opened ? opened.isCurrent() : file === fileIdentity(path)
      if (!isCurrent) return
      log('warn', 'the archive index is damaged and is rebuilt', { reason: reasonOf(error) })
      moveIndexAside(path)
      markUnindexed(store)
    })
    close()
    changes++
  }

  return {
    use(work) {
      try {
        return work(open())
      } catch (error) {
        if (!isIndexDamage(error)) throw error
        replace(error)
        return work(open())
      }
    },
    changes: () => changes,
    close,
  }
}

function markUnindexed(store: Store): void {
  store.transaction(() => {
    for (const record of store.archives())
      if (record.status === 'kept')
        store.putArchive({ ...record, indexed: false, reason: null, retryAt: null, attempts: 0 })
  })
}
