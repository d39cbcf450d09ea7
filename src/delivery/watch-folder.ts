import { type FSWatcher, watch } from 'node:fs'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'

export interface Watcher {
  close(): void
}

/**
 * Calls `changed` with the name of each file that is written in a folder, several times per write.
 * Returns null where a folder cannot be watched.
 */
export function watchFolder(dir: string, log: Log, changed: (file: string) => void): Watcher | null {
  let watcher: FSWatcher
  try {
    watcher = watch(dir, { persistent: false }, (_, file) => {
      if (file !== null) changed(file)
    })
  } catch (error) {
    log('warn', `${dir} cannot be watched, so every hook waits for its answer`, { reason: reasonOf(error) })
    return null
  }
  // Hooks then ask the server again, as soon as their marks have expired.
  watcher.on('error', (error) => log('warn', `${dir} is no longer watched`, { reason: reasonOf(error) }))
  return watcher
}
