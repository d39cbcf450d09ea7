import type { Policy } from '../contract/policy.js'
import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'

export interface RetentionRule {
  /** Deletes archives made before this ISO time. Null when age does not matter. */
  olderThan: string | null
  /** Total size of all archive files. Null when size does not matter. */
  mostBytes: number | null
}

/**
 * Returns the archives that a retention rule deletes. Pending archives are never deleted.
 * Limit by age: deletes every archive that is too old.
 * Limit by size: deletes whole sessions, the least recently archived first, until the rest fits.
 * Deleting one archive of a session would free nothing, because later archives build on it.
 */
export function chooseToDelete(
  records: readonly ArchiveRecord[],
  segments: readonly SegmentRecord[],
  { olderThan, mostBytes }: RetentionRule,
): ArchiveRecord[] {
  const settled = records.filter(
    ({ status, retryAt }) => status === 'kept' || (status === 'failed' && retryAt === null),
  )
  const dropped = new Set(olderThan === null ? [] : settled.filter(({ createdAt }) => createdAt < olderThan))
  if (mostBytes !== null) {
    const listKept = (): ArchiveRecord[] => records.filter((record) => !dropped.has(record))
    let size = storedBytesOf(neededSegments(listKept(), segments))
    for (const sessionId of leastRecentFirst(settled.filter((record) => !dropped.has(record)))) {
      if (size <= mostBytes) break
      for (const record of settled) if (record.sessionId === sessionId) dropped.add(record)
      size = storedBytesOf(neededSegments(listKept(), segments))
    }
  }
  return settled.filter((record) => dropped.has(record))
}

/** Returns the segments (stored byte ranges) that these archives need. */
export function neededSegments(records: readonly ArchiveRecord[], segments: readonly SegmentRecord[]): SegmentRecord[] {
  const bytes = bytesNeeded(records)
  return segments.filter(({ streamId, from }) => from < (bytes.get(streamId) ?? 0))
}

/** Returns how many bytes of each stream (stored transcript) the archives need. */
export function bytesNeeded(records: readonly ArchiveRecord[]): Map<string, number> {
  const most = new Map<string, number>()
  for (const { parts } of records) {
    for (const { streamId, bytes } of parts) {
      if (streamId !== null) most.set(streamId, Math.max(bytes, most.get(streamId) ?? 0))
    }
  }
  return most
}

export const storedBytesOf = (segments: readonly SegmentRecord[]): number =>
  segments.reduce((sum, { storedBytes }) => sum + storedBytes, 0)

function leastRecentFirst(records: readonly ArchiveRecord[]): string[] {
  const last = new Map<string, string>()
  for (const { sessionId, createdAt } of records) {
    if (createdAt > (last.get(sessionId) ?? '')) last.set(sessionId, createdAt)
  }
  return [...last].sort((a, b) => (a[1] < b[1] ? -1 : 1)).map(([sessionId]) => sessionId)
}

type Rules = Pick<Policy['archive'], 'keepDays' | 'keepBytes'>

interface ScopedRetention {
  among(record: ArchiveRecord): boolean
  retention: RetentionRule
}

const DAY_MS = 24 * 3_600_000

/**
 * Returns the retention rules of the configuration, in order. Empty when everything is kept.
 * The rules of each project come first: its age limit, and the size limit in its own file.
 * The size limit for all archives comes last.
 */
export function configuredRetentions(
  records: readonly ArchiveRecord[],
  rulesOf: (project: string | null) => Rules,
  now: Date,
): ScopedRetention[] {
  const everywhere = rulesOf(null)
  const projects = [...new Set(records.map(({ project }) => project))]
  const rounds = projects.flatMap((project): ScopedRetention[] => {
    const { keepDays, keepBytes } = project === null ? everywhere : rulesOf(project)
    const retention = {
      olderThan: keepDays === null ? null : new Date(now.getTime() - keepDays * DAY_MS).toISOString(),
      mostBytes: keepBytes === everywhere.keepBytes ? null : keepBytes,
    }
    const isLimited = retention.olderThan !== null || retention.mostBytes !== null
    return isLimited ? [{ among: (record) => record.project === project, retention }] : []
  })
  const most = everywhere.keepBytes
  return most === null ? rounds : [...rounds, { among: () => true, retention: { olderThan: null, mostBytes: most } }]
}
