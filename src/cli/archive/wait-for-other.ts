import { setTimeout as pause } from 'node:timers/promises'
import type { ArchiveRecord } from '../../contract/archive.js'
import type { Store } from '../../store/store.js'

export interface Waiting {
  store: Pick<Store, 'archive'>
  archiveId: string
  /** Keeps what can be kept now. */
  finish(): void
  /** Told once, when it begins to take long. */
  tell(): void
  mostMs?: number
}

const MOST_MS = 120_000
const QUIET_MS = 1_000
const PAUSE_MS = 250

/**
 * An archive whose session another process is working on, once that one is done with it or has let go of it. Returned as it is when that takes
 * too long; null: it was forgotten meanwhile.
 */
export async function waitForOther({ store, archiveId, finish, tell, mostMs = MOST_MS }: Waiting): Promise<ArchiveRecord | null> {
  const began = performance.now()
  let told = false
  for (;;) {
    const record = store.archive(archiveId)
    const waited = performance.now() - began
    if (record?.status !== 'pending' || waited >= mostMs) return record
    if (!told && waited >= Math.min(QUIET_MS, mostMs / 2)) {
      told = true
      tell()
    }
    await pause(PAUSE_MS)
    finish()
  }
}
