import type { Policy } from '../contract/policy.js'
import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'

export interface Retention {
  /** Archives made before this ISO time go; null: age does not matter. */
  olderThan: string | null
  /** What all files may take together; null: size does not matter. */
  mostBytes: number | null
}

/**
 * Which archives a retention drops. By age: each that is too old. By size: whole sessions, the one archived longest ago first, until the rest
 * fits; dropping a single archive of a session that stays would free nothing, because the later ones are built on it. Pending ones stay.
 */
export function chooseToDrop(
  records: readonly ArchiveRecord[],
  segments: readonly SegmentRecord[],
  { olderThan, mostBytes }: Retention,
): ArchiveRecord[] {
  const settled = records.filter(
    ({ status, retryAt }) => status === 'kept' || (status === 'failed' && retryAt === null),
  )
  const dropped = new Set(olderThan === null ? [] : settled.filter(({ createdAt }) => createdAt < olderThan))
  if (mostBytes !== null) {
    const left = (): ArchiveRecord[] => records.filter((record) => !dropped.has(record))
    let size = sizeOf(needed(left(), segments))
    for (const sessionId of longestAgoFirst(settled.filter((record) => !dropped.has(record)))) {
      if (size <= mostBytes) break
      for (const record of settled) if (record.sessionId === sessionId) dropped.add(record)
      size = sizeOf(needed(left(), segments))
    }
  }
  return settled.filter((record) => dropped.has(record))
}

/** The segments that archives cannot do without. */
export function needed(records: readonly ArchiveRecord[], segments: readonly SegmentRecord[]): SegmentRecord[] {
  const bytes = bytesNeeded(records)
  return segments.filter(({ streamId, from }) => from < (bytes.get(streamId) ?? 0))
}

/** How much of each stream archives hold. */
export function bytesNeeded(records: readonly ArchiveRecord[]): Map<string, number> {
  const most = new Map<string, number>()
  for (const { parts } of records) {
    for (const { streamId, bytes } of parts) {
      if (streamId !== null) most.set(streamId, Math.max(bytes, most.get(streamId) ?? 0))
    }
  }
  return most
}

export const sizeOf = (segments: readonly SegmentRecord[]): number =>
  segments.reduce((sum, { storedBytes }) => sum + storedBytes, 0)

function longestAgoFirst(records: readonly ArchiveRecord[]): string[] {
  const last = new Map<string, string>()
  for (const { sessionId, createdAt } of records) {
    if (createdAt > (last.get(sessionId) ?? '')) last.set(sessionId, createdAt)
  }
  return [...last].sort((a, b) => (a[1] < b[1] ? -1 : 1)).map(([sessionId]) => sessionId)
}

type Rules = Pick<Policy['archive'], 'keepDays' | 'keepBytes'>

interface Round {
  among(record: ArchiveRecord): boolean
  retention: Retention
}

const DAY_MS = 24 * 3_600_000

/**
 * What the configuration drops by itself, round by round: for each project what is too old, and what is too much where its own file says so;
 * then what is too much in all. [] : it keeps everything.
 */
export function configuredRounds(
  records: readonly ArchiveRecord[],
  rulesOf: (project: string | null) => Rules,
  now: Date,
): Round[] {
  const everywhere = rulesOf(null)
  const projects = [...new Set(records.map(({ project }) => project))]
  const rounds = projects.flatMap((project): Round[] => {
    const { keepDays, keepBytes } = project === null ? everywhere : rulesOf(project)
    const retention = {
      olderThan: keepDays === null ? null : new Date(now.getTime() - keepDays * DAY_MS).toISOString(),
      mostBytes: keepBytes === everywhere.keepBytes ? null : keepBytes,
    }
    const says = retention.olderThan !== null || retention.mostBytes !== null
    return says ? [{ among: (record) => record.project === project, retention }] : []
  })
  const most = everywhere.keepBytes
  return most === null ? rounds : [...rounds, { among: () => true, retention: { olderThan: null, mostBytes: most } }]
}
