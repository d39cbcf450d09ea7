import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord } from '../contract/archive.js'
import { BatonError, codeOf, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { type ClaimParts, claimArchive, isClaimed, keepClaimed, LostLease } from './claim.js'
import { fileName } from './file-name.js'
import { dropLinks, isWhole, type KeepParts, type KeptPart, keepPart } from './keep-part.js'
import { nextTry } from './next-try.js'
import { SourceTrouble } from './source-trouble.js'
import { removeTemporary } from './temporary-files.js'

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
export interface FinishParts extends ClaimParts, Omit<KeepParts, 'self' | 'name'> {
  log: Log
  /** Called inside the transaction that keeps an archive, or that gives one up for good: for events that must not be lost. */
  settled?(record: ArchiveRecord): void
}

const ORPHAN_MS = 600_000

/** Keeps everything that is planned. Returns what was settled. Throws only when the store cannot be used. */
export function finishArchives(parts: FinishParts, only?: { sessionId: string }): ArchiveRecord[] {
  const settled: ArchiveRecord[] = []
  const passed = new Set<string>()
  if (only)
    for (const { archiveId, sessionId } of parts.store.openArchives()) if (sessionId !== only.sessionId) passed.add(archiveId)
  for (;;) {
    const record = claimArchive(parts, passed)
    if (!record) break
    passed.add(record.archiveId)
    const done = finishOne(parts, record)
    if (done) settled.push(done)
  }
  tidy(parts)
  return settled
}

function finishOne(parts: FinishParts, record: ArchiveRecord): ArchiveRecord | null {
  const { store } = parts
  const stillMine = keepClaimed(parts, record)
  const keeping: KeepParts = {
    ...parts,
    progress(bytes) {
      stillMine()
      parts.progress?.(bytes)
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
    return settle(parts, record, kept)
  } catch (error) {
    if (error instanceof BatonError) throw error
    return giveUp(parts, record, error)
  }
}

/** A subagent's transcript that is gone costs only itself. */
function keptOrTrouble(parts: KeepParts, record: ArchiveRecord, part: ArchivePart): KeptPart | string {
  try {
    return keepPart(parts, record, part)
  } catch (error) {
    if (part.name === '' || !(error instanceof SourceTrouble)) throw error
    return error.message
  }
}

function settle(parts: FinishParts, record: ArchiveRecord, kept: (KeptPart | string | null)[]): ArchiveRecord | null {
  const { store, places } = parts
  const segments = kept.flatMap((one) => (typeof one === 'object' && one?.segment ? [one.segment] : []))
  const done: ArchiveRecord = {
    ...record,
    ...{ status: 'kept', reason: null, retryAt: null, lease: null, indexed: false, attempts: 0 },
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
    parts.settled?.(done)
    return true
  })
  if (!committed) return abandoned(parts, record)
  dropLinks(places, record)
  return done
}

/** What was written of an archive that somebody forgot meanwhile belongs to nobody; of one that another process took over it is that one's. */
function abandoned({ store, places, log }: FinishParts, record: ArchiveRecord): null {
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

function giveUp(parts: FinishParts, record: ArchiveRecord, error: unknown): ArchiveRecord | null {
  const { store, now, log, places } = parts
  const attempts = record.attempts + 1
  const retryAt = error instanceof SourceTrouble ? null : nextTry(attempts, now())
  const lost = retryAt === null
  const failed: ArchiveRecord = {
    ...record,
    ...{ status: 'failed', reason: told(error), lease: null, attempts },
    retryAt,
    parts: lost ? record.parts.map((part) => ({ ...part, link: null })) : record.parts,
  }
  const committed = store.transaction(() => {
    if (!isClaimed(store, record)) return false
    store.putArchive(failed)
    if (lost) parts.settled?.(failed)
    return true
  })
  if (!committed) return abandoned(parts, record)
  log('warn', 'a transcript could not be kept', { archive: record.archiveId, reason: failed.reason, again: failed.retryAt })
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
function tidy({ store, places, self, now }: FinishParts): void {
  removeTemporary(places.folder, self.where, now())
  let names: string[] = []
  try {
    names = readdirSync(places.links)
  } catch {
    return
  }
  for (const name of names) {
    const path = join(places.links, name)
    const known = store.archive(name.replace(/\.\d+$/, ''))?.parts.some(({ link }) => link === name)
    const made = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0
    if (!known && now().getTime() - made > ORPHAN_MS) rmSync(path, { force: true })
  }
}
