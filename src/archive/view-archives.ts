import type { Archive, ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'

/**
 * Returns archives as they are shown.
 * A segment counts for one archive only, so the sum of `stored_bytes` is the size on the disk.
 */
export function viewArchives(
  records: readonly ArchiveRecord[],
  segments: readonly SegmentRecord[],
  { pathOf, titleOf }: { pathOf(file: string): string; titleOf(sessionId: string): string | null },
): Archive[] {
  const owned = ownersOf(records, segments)
  const byStream = groupByStream(segments)
  return records.map((record) => {
    const [main, ...subagents] = record.parts
    const last = byStream.get(main?.streamId ?? '')?.findLast(({ from }) => from < main!.bytes)
    return {
      archive_id: record.archiveId,
      session_id: record.sessionId,
      title: titleOf(record.sessionId) ?? record.title ?? null,
      project: record.project,
      trigger: record.trigger,
      created_at: record.createdAt,
      status: record.status,
      reason: record.reason,
      bytes: main?.bytes ?? 0,
      stored_bytes: (owned.get(record.archiveId) ?? []).reduce((sum, { storedBytes }) => sum + storedBytes, 0),
      sha256: main?.sha256 ?? null,
      path: last ? pathOf(last.file) : null,
      indexed: record.indexed,
      subagents: subagents.map(({ name, bytes, sha256, trouble }) => ({ name, bytes, sha256, trouble })),
    }
  })
}

/** Returns the segments (stored byte ranges) that were first written for each archive. */
function ownersOf(records: readonly ArchiveRecord[], segments: readonly SegmentRecord[]): Map<string, SegmentRecord[]> {
  const owned = new Map<string, SegmentRecord[]>()
  const holders = new Map<string, { archiveId: string; bytes: number }[]>()
  for (const { archiveId, parts } of records) {
    for (const { streamId, bytes } of parts) {
      if (streamId !== null) holders.set(streamId, [...(holders.get(streamId) ?? []), { archiveId, bytes }])
    }
  }
  for (const segment of segments) {
    const owner = holders.get(segment.streamId)?.find(({ bytes }) => bytes > segment.from)
    if (owner) owned.set(owner.archiveId, [...(owned.get(owner.archiveId) ?? []), segment])
  }
  return owned
}

export function groupByStream(segments: readonly SegmentRecord[]): Map<string, SegmentRecord[]> {
  const streams = new Map<string, SegmentRecord[]>()
  for (const segment of segments) {
    const known = streams.get(segment.streamId)
    if (known) known.push(segment)
    else streams.set(segment.streamId, [segment])
  }
  return streams
}
