import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord } from '../contract/records/archive.js'
import { BatonError, codeOf, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { ProcessIdentity } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { fileName } from './file-name.js'
import { dropLinks, isWhole, type KeepDependencies, type KeptPart, keepPart } from './keep-part.js'
import { logArchive } from './log-archive.js'
import { removeTemporary } from './temporary-files.js'
import { nextTry, type TimeLimit } from './time-limit.js'
import { SourceTrouble } from './write-segment.js'

/**
 * What becomes of an archive:
 *
 * - **pending**: planned. A process puts its name on it (the lease) and copies the first bytes of each transcript into files that get
 *   their names only once they were read back, and only while the lease is still its own. Whoever finds the lease of a dead process
 *   begins again; who was wrongly taken for dead stops and touches nothing.
 * - **kept**: one transaction names the files, the hashes and the end of the work; then the links to the transcripts go. From here on nothing
 *   changes but that it becomes searchable.
 * - **failed** with a time: the disk is full or may not be written; tried again after it, a bounded number of times.
 * - **failed** for good: the transcript is not what was planned any more. The reason stays.
 */
export interface FinishDependencies extends ClaimDependencies, Omit<KeepDependencies, 'self' | 'name'> {
  log: Log
  /** Called inside the transaction that keeps an archive, or that gives one up for good: for events that must not be lost. */
  settled?(record: ArchiveRecord): void
  /** Archives that do not fit into it are left for a later call. Absent: all are kept. */
  limit?: TimeLimit
}

const ORPHAN_MS = 600_000

/** Keeps everything that is planned. Returns what was settled. Throws only when the store cannot be used. */
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
  tidy(deps)
  return settled
}

function finishOne(deps: FinishDependencies, record: ArchiveRecord): ArchiveRecord | null {
  const { store } = deps
  const stillMine = keepClaimed(deps, record)
  const keeping: KeepDependencies = {
    ...deps,
    progress(bytes) {
      stillMine()
      deps.progress?.(bytes)
    },
    // In one transaction with the look at the lease: nobody can take the archive between the two and have its file replaced.
    name: (give) =>
      store.transaction(() => {
        if (!isClaimed(store, record)) throw new LostLease()
        give()
      }),
  }
  try {
    const kept = record.parts.map((part) => (part.trouble === null ? keptOrTrouble(keeping, record, part) : null))
    return settle(deps, record, kept)
  } catch (error) {
    if (error instanceof BatonError) throw error
    return giveUp(deps, record, error)
  }
}

/** A subagent's transcript that is gone costs only itself. */
function keptOrTrouble(deps: KeepDependencies, record: ArchiveRecord, part: ArchivePart): KeptPart | string {
  try {
    return keepPart(deps, record, part)
  } catch (error) {
    if (part.name === '' || !(error instanceof SourceTrouble)) throw error
    return error.message
  }
}

function settle(
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
    if (!isClaimed(store, record)) return false
    for (const segment of segments) store.putSegment(segment)
    const streams = new Set(done.parts.flatMap(({ streamId }) => streamId ?? []))
    const broken = [...streams].some((streamId) => !holds(store.segments({ streamId }), done, streamId))
    if (broken) throw new Error('older archives it builds on were removed meanwhile')
    store.putArchive(done)
    deps.settled?.(done)
    return true
  })
  if (!committed) return abandoned(deps, record)
  logArchive(deps.log, done, { kept: segments })
  dropLinks(places, record)
  return done
}

/** What was written of an archive that somebody forgot meanwhile belongs to nobody; of one that another process took over it is that one's. */
function abandoned({ store, places, log }: FinishDependencies, record: ArchiveRecord): null {
  log('debug', new LostLease().message, { archive: record.archiveId })
  if (store.archive(record.archiveId) !== null) return null
  const needed = new Set(store.segments({ sessionId: record.sessionId }).map(({ file }) => file))
  for (const file of record.parts.map(({ name }) => fileName(record.stem, name)))
    if (!needed.has(file)) rmSync(join(places.folder, file), { force: true })
  dropLinks(places, record)
  return null
}

function holds(segments: Parameters<typeof isWhole>[0], { parts }: ArchiveRecord, streamId: string): boolean {
  const bytes = Math.max(...parts.flatMap((part) => (part.streamId === streamId ? [part.bytes] : [])))
  return isWhole(segments) && (segments.at(-1)?.to ?? 0) >= bytes
}

function giveUp(deps: FinishDependencies, record: ArchiveRecord, error: unknown): ArchiveRecord | null {
  const { store, now, log, places } = deps
  const attempts = record.attempts + 1
  const retryAt = error instanceof SourceTrouble ? null : nextTry(attempts, now())
  const lost = retryAt === null
  const failed: ArchiveRecord = {
    ...record,
    status: 'failed',
    reason: told(error),
    lease: null,
    attempts,
    retryAt,
    parts: lost ? record.parts.map((part) => ({ ...part, link: null })) : record.parts,
  }
  const committed = store.transaction(() => {
    if (!isClaimed(store, record)) return false
    store.putArchive(failed)
    if (lost) deps.settled?.(failed)
    return true
  })
  if (!committed) return abandoned(deps, record)
  const reason = failed.reason!
  logArchive(log, record, error instanceof SourceTrouble ? { missing: reason } : { unwritten: reason, again: retryAt })
  if (lost) dropLinks(places, record)
  return lost ? failed : null
}

function told(error: unknown): string {
  const code = codeOf(error)
  if (error instanceof SourceTrouble) return error.message
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'no space is left on the disk'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return `the archive folder cannot be written (${code})`
  return reasonOf(error)
}

/** What processes left behind that were killed: files on their way to a name, and links whose archive was never written down. */
function tidy({ store, places, self, now }: FinishDependencies): void {
  for (const folder of [places.folder, places.records]) removeTemporary(folder, self.where, now())
  let names: string[] = []
  try {
    names = readdirSync(places.links)
  } catch {
    return
  }
  for (const name of names) {
    // Archives may lie in a linked folder, beside files of the user.
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

/** Somebody else works on the archive now, or it was forgotten: whatever this process made of it does not count. */
class LostLease extends Error {
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
export function claimArchive(
  deps: ClaimDependencies,
  passed: ReadonlySet<string>,
  fits: (record: ArchiveRecord) => boolean = () => true,
): ArchiveRecord | null {
  const { store, self, now } = deps
  return store.transaction(() => {
    const open = store.openArchives().filter(({ status }) => status !== 'kept')
    const taken = new Set(open.filter(({ lease }) => isHeld(lease, deps)).map(({ sessionId }) => sessionId))
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

/** Whether the archive still bears the name this process put on it. To be asked inside a transaction. */
function isClaimed(store: Store, { archiveId, lease }: ArchiveRecord): boolean {
  const now = store.archive(archiveId)?.lease ?? null
  return now !== null && lease !== null && isSame(now, lease)
}

/** For whoever works on an archive to call now and then: says so to those who cannot see this process. Throws LostLease. */
function keepClaimed({ store, now }: ClaimDependencies, record: ArchiveRecord): () => void {
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
function isHeld(lease: Lease | null, { self, isAlive, now }: ClaimDependencies): boolean {
  if (lease === null || isSame(lease, self)) return false
  if (lease.where === undefined || lease.where === self.where) return isAlive(lease)
  return now().getTime() - Date.parse(lease.at ?? '') < FOREIGN_MS
}

function isSame(a: Omit<Lease, 'at'>, b: Omit<Lease, 'at'>): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt && a.where === b.where
}
