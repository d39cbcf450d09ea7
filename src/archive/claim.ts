import type { ArchiveRecord } from '../contract/archive.js'
import type { ProcessIdentity } from '../lib/process-info.js'
import type { Store } from '../store/store.js'

export interface ClaimParts {
  store: Store
  self: ProcessIdentity
  now(): Date
  isAlive(identity: ProcessIdentity): boolean
}

/**
 * The next archive whose bytes are still to be kept, with this process's name on it; null: there is none. Archives of one session are
 * done one after the other, oldest first, because each builds on the one before: while another process lives that works on one of them, all
 * of that session wait.
 */
export function claimArchive(parts: ClaimParts, passed: ReadonlySet<string>): ArchiveRecord | null {
  const { store, self, now } = parts
  return store.transaction(() => {
    const open = store.openArchives().filter(({ status }) => status !== 'kept')
    const taken = new Set(open.filter(({ lease }) => isHeld(lease, parts)).map(({ sessionId }) => sessionId))
    const next = open.find(
      (one) => !taken.has(one.sessionId) && !passed.has(one.archiveId) && (one.retryAt ?? '') <= now().toISOString(),
    )
    if (!next) return null
    const claimed = { ...next, lease: { pid: self.pid, startedAt: self.startedAt } }
    store.putArchive(claimed)
    return claimed
  })
}

/** This process's own name counts for nothing: it does one at a time, so it must be left from one that went wrong. */
function isHeld(lease: ArchiveRecord['lease'], { self, isAlive }: ClaimParts): boolean {
  if (lease === null || (lease.pid === self.pid && lease.startedAt === self.startedAt)) return false
  return isAlive(lease)
}
