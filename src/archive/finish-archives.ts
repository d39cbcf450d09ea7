import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord } from '../contract/records/archive.js'
import { BatonError, errorCodeOf, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { ProcessIdentity } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { fileName } from './file-name.js'
import { deleteLinks, isGapless, type KeepDependencies, type KeptPart, keepPart } from './keep-part.js'
import { logArchive } from './log-archive.js'
import { removeTemporary } from './temporary-files.js'
import { nextRetryAt, type TimeLimit } from './time-limit.js'
import { SourceChanged } from './write-segment.js'

/**
 * States of an archive:
 *
 * - **pending**: planned. A process takes the lease and copies the first bytes of each transcript.
 * Files get their names only after they were read back, and only while the lease is held.
 * If the lease holder died, another process starts again.
 * A process that was wrongly taken for dead stops and touches nothing.
 * - **kept**: one transaction stores files, hashes and status. Then the hard links are deleted.
 * After the state **kept**, only `indexed` changes.
 * - **failed** with a retry time: the disk is full or not writable. Retried a few times.
 * - **failed** for good: the transcript no longer matches the plan. The reason is stored.
 */
export interface FinishDependencies extends ClaimDependencies, Omit<KeepDependencies, 'self' | 'name'> {
  log: Log
  /**
   * Called inside the transaction that stores an archive or fails it for good.
   * Meant for events that must not be lost.
   */
  onSettled?(record: ArchiveRecord): void
  /**
   * Time limit. Archives that do not fit into it wait for a later call. Without it, all are kept.
   */
  limit?: TimeLimit
}

const ORPHAN_MS = 600_000

/**
 * Copies every planned archive. Returns the archives now kept or failed for good.
 * Throws only when the store cannot be used.
 */
export function finishArchives(deps: FinishDependencies, only?: { sessionId: string }): ArchiveRecord[] {
  const settled: ArchiveRecord[] = []
  const passed = new Set<string>()
  if (only)
    for (const { archiveId, sessionId } of deps.store.openArchives())
      if (sessionId !== only.sessionId) passed.add(archiveId)
  const fits = ({ parts: transcripts }: ArchiveRecord): boolean =>
    deps.limit?.allows(transcripts.reduce((sum, { bytes }) => sum + bytes, 0)) ?? true
  for (;;) {
    const record = claimArchive(deps, passed, fits)
    if (!record) break
    passed.add(record.archiveId)
    const done = finishOne(deps, record)
    if (done) settled.push(done)
  }
  deleteOrphans(deps)
  return settled
}

function finishOne(deps: FinishDependencies, record: ArchiveRecord): ArchiveRecord | null {
  const { store } = deps
  const renewLease = makeLeaseRenewer(deps, record)
  const keeping: KeepDependencies = {
    ...deps,
    progress(bytes) {
      renewLease()
      deps.progress?.(bytes)
    },
    // Check the lease and rename the file in one transaction.
    // No other process can then take the archive in between and lose its file.
    name: (give) =>
      store.transaction(() => {
        if (!holdsLease(store, record)) throw new LostLease()
        give()
      }),
  }
  try {
    const kept = record.parts.map((part) => (part.trouble === null ? tryKeepPart(keeping, record, part) : null))
    return markKept(deps, record, kept)
  } catch (error) {
    if (error instanceof BatonError) throw error
    return recordFailure(deps, record, error)
  }
}

/** Archives one transcript. A missing subagent transcript fails alone, without the archive. */
function tryKeepPart(deps: KeepDependencies, record: ArchiveRecord, part: ArchivePart): KeptPart | string {
  try {
    return keepPart(deps, record, part)
  } catch (error) {
    if (part.name === '' || !(error instanceof SourceChanged)) throw error
    return error.message
  }
}

function markKept(
  deps: FinishDependencies,
  record: ArchiveRecord,
  kept: (KeptPart | string | null)[],
): ArchiveRecord | null {
  const { store, places } = deps
  const segments = kept.flatMap((one) => (typeof one === 'object' && one?.segment ? [one.segment] : []))
  const done: ArchiveRecord = {
    ...record,
    status: 'kept',
    reason: null,
    retryAt: null,
    lease: null,
    indexed: false,
    attempts: 0,
    parts: record.parts.map((part, at) => {
      const one = kept[at]!
      if (one === null) return { ...part, link: null }
      if (typeof one === 'string') return { ...part, link: null, bytes: 0, trouble: one }
      return { ...part, link: null, streamId: one.streamId, sha256: one.sha256 }
    }),
  }
  const committed = store.transaction(() => {
    if (!holdsLease(store, record)) return false
    for (const segment of segments) store.putSegment(segment)
    const streams = new Set(done.parts.flatMap(({ streamId }) => streamId ?? []))
    const broken = [...streams].some((streamId) => !coversArchive(store.segments({ streamId }), done, streamId))
    if (broken) throw new Error('the older archives that it builds on were removed in the meantime')
    store.putArchive(done)
    deps.onSettled?.(done)
    return true
  })
  if (!committed) return discardFiles(deps, record)
  logArchive(deps.log, done, { kept: segments })
  deleteLinks(places, record)
  return done
}

/**
 * Deletes files of an archive that was removed while this process wrote it.
 * If another process took the archive over, the files stay, because its record references them.
 */
function discardFiles({ store, places, log }: FinishDependencies, record: ArchiveRecord): null {
  log('debug', new LostLease().message, { archive: record.archiveId })
  if (store.archive(record.archiveId) !== null) return null
  const needed = new Set(store.segments({ sessionId: record.sessionId }).map(({ file }) => file))
  for (const file of record.parts.map(({ name }) => fileName(record.stem, name)))
    if (!needed.has(file)) rmSync(join(places.folder, file), { force: true })
  deleteLinks(places, record)
  return null
}

function coversArchive(segments: Parameters<typeof isGapless>[0], { parts }: ArchiveRecord, streamId: string): boolean {
  const bytes = Math.max(...parts.flatMap((part) => (part.streamId === streamId ? [part.bytes] : [])))
  return isGapless(segments) && (segments.at(-1)?.to ?? 0) >= bytes
}

function recordFailure(deps: FinishDependencies, record: ArchiveRecord, error: unknown): ArchiveRecord | null {
  const { store, now, log, places } = deps
  const attempts = record.attempts + 1
  const retryAt = error instanceof SourceChanged ? null : nextRetryAt(attempts, now())
  const lost = retryAt === null
  const failed: ArchiveRecord = {
    ...record,
    status: 'failed',
    reason: describeError(error),
    lease: null,
    attempts,
    retryAt,
    parts: lost ? record.parts.map((part) => ({ ...part, link: null })) : record.parts,
  }
  const committed = store.transaction(() => {
    if (!holdsLease(store, record)) return false
    store.putArchive(failed)
    if (lost) deps.onSettled?.(failed)
    return true
  })
  if (!committed) return discardFiles(deps, record)
  const reason = failed.reason!
  logArchive(log, record, error instanceof SourceChanged ? { missing: reason } : { unwritten: reason, again: retryAt })
  if (lost) deleteLinks(places, record)
  return lost ? failed : null
}

function describeError(error: unknown): string {
  const code = errorCodeOf(error)
  if (error instanceof SourceChanged) return error.message
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'no space is left on the disk'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return `the archive folder is not writable (${code})`
  return reasonOf(error)
}

/** Deletes the leftovers of killed processes: temporary files, and hard links without a record. */
function deleteOrphans({ store, places, self, now }: FinishDependencies): void {
  for (const folder of [places.folder, places.records]) removeTemporary(folder, self.where, now())
  let names: string[] = []
  try {
    names = readdirSync(places.links)
  } catch {
    return
  }
  for (const name of names) {
    // The archive folder may be a symlink to a folder that also has files of the user.
    if (!/^arc_\w+\.\d+$/.test(name)) continue
    const path = join(places.links, name)
    const known = store.archive(name.replace(/\.\d+$/, ''))?.parts.some(({ link }) => link === name)
    const made = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0
    if (!known && now().getTime() - made > ORPHAN_MS) rmSync(path, { force: true })
  }
}

type Lease = NonNullable<ArchiveRecord['lease']>

interface ClaimDependencies {
  store: Store
  self: ProcessIdentity & { where: string }
  now(): Date
  isAlive(identity: ProcessIdentity): boolean
}

/**
 * Thrown when another process holds the lease of the archive now, or the archive was removed.
 * Everything that this process did for the archive must be discarded.
 */
class LostLease extends Error {
  constructor() {
    super('another process is writing it, or it was removed')
    this.name = 'LostLease'
  }
}

const RENEW_MS = 20_000
const FOREIGN_MS = 120_000

/**
 * Leases the next unfinished archive to this process and returns its record.
 * Null when no archive can be copied now.
 * Archives of a session are copied oldest first, because each builds on the one before.
 * While another live process copies an archive of the session, the others of the session wait.
 */
export function claimArchive(
  deps: ClaimDependencies,
  passed: ReadonlySet<string>,
  fits: (record: ArchiveRecord) => boolean = () => true,
): ArchiveRecord | null {
  const { store, self, now } = deps
  return store.transaction(() => {
    const open = store.openArchives().filter(({ status }) => status !== 'kept')
    const taken = new Set(open.filter(({ lease }) => isHeldByOther(lease, deps)).map(({ sessionId }) => sessionId))
    const next = open.find(
      (one) =>
        !taken.has(one.sessionId) &&
        !passed.has(one.archiveId) &&
        (one.retryAt ?? '') <= now().toISOString() &&
        fits(one),
    )
    if (!next) return null
    const lease: Lease = { pid: self.pid, startedAt: self.startedAt, where: self.where, at: now().toISOString() }
    const claimed = { ...next, lease }
    store.putArchive(claimed)
    return claimed
  })
}

/** True while this process still holds the lease. Call the function inside a transaction. */
function holdsLease(store: Store, { archiveId, lease }: ArchiveRecord): boolean {
  const now = store.archive(archiveId)?.lease ?? null
  return now !== null && lease !== null && isSame(now, lease)
}

/**
 * Returns a function that renews the lease, to be called regularly while working.
 * Processes that cannot see this process judge the lease by its renewal. Throws LostLease.
 */
function makeLeaseRenewer({ store, now }: ClaimDependencies, record: ArchiveRecord): () => void {
  let renewedAt = now().getTime()
  return () => {
    const at = now()
    if (at.getTime() - renewedAt < RENEW_MS) return
    renewedAt = at.getTime()
    store.transaction(() => {
      if (!holdsLease(store, record)) throw new LostLease()
      store.putArchive({ ...record, lease: { ...record.lease!, at: at.toISOString() } })
    })
  }
}

/**
 * True when another live process holds the lease.
 * A lease of this process itself is stale: it copies one archive at a time, so that one failed.
 */
function isHeldByOther(lease: Lease | null, { self, isAlive, now }: ClaimDependencies): boolean {
  if (lease === null || isSame(lease, self)) return false
  if (lease.where === undefined || lease.where === self.where) return isAlive(lease)
  return now().getTime() - Date.parse(lease.at ?? '') < FOREIGN_MS
}

function isSame(a: Omit<Lease, 'at'>, b: Omit<Lease, 'at'>): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt && a.where === b.where
}
