import { type FSWatcher, watch } from 'node:fs'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { compareByTime } from './spool.js'

/** Signals that hooks spooled for the server without waiting for an answer. */
export interface UnansweredSignals {
  /** Returns new ids since the last call, oldest first. Some may be gone or incomplete. */
  take(): string[]
  close(): void
}

/** Delay before a read. A launcher writes its signal faster than this. */
const GATHER_MS = 10

/**
 * Calls `arrived` when hooks have left signals for the server.
 * Returns null where a folder cannot be watched.
 * A signal whose end is not yet written is seen again when it is.
 */
export function watchSpool(dir: string, log: Log, arrived: () => void): UnansweredSignals | null {
  const seen = new Set<string>()
  let timer: NodeJS.Timeout | null = null
  const stopWaiting = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
  }
  const note = (id: string | null): void => {
    if (id === null || !id.endsWith('-far')) return
    seen.add(id)
    timer ??= setTimeout(() => {
      timer = null
      arrived()
    }, GATHER_MS)
  }
  let watcher: FSWatcher
  try {
    watcher = watch(dir, { persistent: false }, (_, id) => note(id))
  } catch (error) {
    log('warn', 'the spool cannot be watched, so each hook waits for its answer', { reason: reasonOf(error) })
    return null
  }
  // The server also drains the spool every few seconds.
  watcher.on('error', (error) => log('warn', 'the spool is no longer watched', { reason: reasonOf(error) }))
  return {
    take() {
      stopWaiting()
      const ids = [...seen].sort(compareByTime)
      seen.clear()
      return ids
    },
    close() {
      stopWaiting()
      watcher.close()
    },
  }
}
