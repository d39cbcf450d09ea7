import type { ArchiveRecord } from '../contract/archive.js'
import type { ProcessIdentity } from '../lib/process-info.js'
import type { Store } from '../store/store.js'

type Lease = NonNullable<ArchiveRecord['lease']>

export interface ClaimParts {
  store: Store
  self: ProcessIdentity & { where: string }
  now(): Date
  isAlive(identity: ProcessIdentity): boolean
}

/** Somebody else works on the archive now, or it was forgotten: whatever this process made of it does not count. */
export class LostLease extends Error {
  constructor() {
    super('another process works on it now, or it was removed')
    this.name = 'LostLease'
  }
}

const RENEW_MS = 20_000
const FOREIGN_MS = 120_000

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
    const lease: Lease = { pid: self.pid, startedAt: self.startedAt, where: self.where, at: now().toISOString() }
    const claimed = { ...next, lease }
    store.putArchive(claimed)
    return claimed
  })
}

/** Whether the archive still bears the name this process put on it. To be asked inside a transaction. */
export function isClaimed(store: Store, { archiveId, lease }: ArchiveRecord): boolean {
  const now = store.archive(archiveId)?.lease ?? null
  return now !== null && lease !== null && isSame(now, lease)
}

/** For whoever works on an archive to call now and then: says so to those who cannot see this process. Throws LostLease. */
export function keepClaimed({ store, now }: ClaimParts, record: ArchiveRecord): () => void {
  let said = now().getTime()
  return () => {
    const at = now()
    if (at.getTime() - said < RENEW_MS) return
    said = at.getTime()
    store.transaction(() => {
      if (!isClaimed(store, record)) throw new LostLease()
      store.putArchive({ ...record, lease: { ...record.lease!, at: at.toISOString() } })
    })
  }
}

/** This process's own name counts for nothing: it does one at a time, so it must be left from one that went wrong. */
function isHeld(lease: Lease | null, { self, isAlive, now }: ClaimParts): boolean {
  if (lease === null || isSame(lease, self)) return false
  if (lease.where === undefined || lease.where === self.where) return isAlive(lease)
  return now().getTime() - Date.parse(lease.at ?? '') < FOREIGN_MS
}

function isSame(a: Omit<Lease, 'at'>, b: Omit<Lease, 'at'>): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt && a.where === b.where
}
