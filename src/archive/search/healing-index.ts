import { reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Store } from '../../store/store.js'
import { fileAt, type Index, isDamage, openIndex, putAside } from './open-index.js'

/** The index of one process: opened when it is needed, and made again when it is lost or damaged. */
export interface HealingIndex {
  /**
   * Works on the index. One that turns out to be damaged is removed with everything in it, every archive waits to be made searchable again, and
   * the work is done once more on an empty one. Throws when there is no place for one.
   */
  use<T>(work: (index: Index) => T): T
  /** How often it was made, or another one was found in its place. Those who asked the one before may have heard too little. */
  changes(): number
  close(): void
}

export function healingIndex(path: string, store: Store, log: Log): HealingIndex {
  let opened: Index | null = null
  let file: string | null = null
  let changes = 0
  const close = (): void => {
    opened?.close()
    opened = null
  }
  const open = (): Index => {
    if (opened && !opened.isCurrent()) {
      close()
      changes++
    }
    if (opened) return opened
    file = fileAt(path)
    opened = openIndex(path, () => {
      forgetIndexed(store)
      changes++
    })
    return opened
  }

  const replace = (error: unknown): void => {
    // Inside the transaction no other process can do the same, nor say that it has put an archive into the file that goes.
    store.transaction(() => {
      const isCurrent = opened ? opened.isCurrent() : file === fileAt(path)
      if (!isCurrent) return
      log('warn', 'the index of the archives is damaged and is made again', { reason: reasonOf(error) })
      putAside(path)
      forgetIndexed(store)
    })
    close()
    changes++
  }

  return {
    use(work) {
      try {
        return work(open())
      } catch (error) {
        if (!isDamage(error)) throw error
        replace(error)
        return work(open())
      }
    },
    changes: () => changes,
    close,
  }
}

function forgetIndexed(store: Store): void {
  store.transaction(() => {
    for (const record of store.archives())
      if (record.status === 'kept')
        store.putArchive({ ...record, indexed: false, reason: null, retryAt: null, attempts: 0 })
  })
}
