import { type FSWatcher, watch } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Sleeps until something in one of some folders changes. */
export interface Changes {
  /** At the first change, `gatherMs` after it, so that many count as one; without one after `ms`. */
  next(ms: number, gatherMs: number): Promise<void>
  close(): void
}

/** A folder that cannot be watched is as one in which nothing changes. */
export function watchChanges(folders: readonly string[]): Changes {
  let changed = false
  let wake: (() => void) | null = null
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watch(folder, () => {
        changed = true
        wake?.()
      })
      return [watcher.on('error', () => watcher.close())]
    } catch {
      return []
    }
  })
  return {
    async next(ms, gatherMs) {
      if (!changed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = null
      }
      if (changed) await pause(Math.min(gatherMs, ms))
      changed = false
    },
    close() {
      for (const watcher of watchers) watcher.close()
    },
  }
}
