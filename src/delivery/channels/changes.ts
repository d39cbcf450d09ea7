import { type FSWatcher, watch } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Waits for changes in a set of folders. */
export interface FolderWatch {
  /**
   * Resolves `gatherMs` after the first change, so that many changes count as one.
   * Without a change, resolves after `ms`.
   */
  next(ms: number, gatherMs: number): Promise<void>
  close(): void
}

/** Watches folders. A folder that cannot be watched never reports a change. */
export function watchFolders(folders: readonly string[]): FolderWatch {
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
