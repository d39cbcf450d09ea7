import type { Archive, ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'

/** How archives are shown. `stored_bytes` of all together is what lies on the disk, because each segment counts for one archive. */
export function viewArchives(
  records: readonly ArchiveRecord[],
  segments: readonly SegmentRecord[],
  { pathOf, titleOf }: { pathOf(file: string): string; titleOf(sessionId: string): string | null },
): Archive[] {
  const owned = ownersOf(records, segments)
  const byStream = streamsOf(segments)
  return records.map((record) => {
    const [main, ...subagents] = record.parts
    const last = byStream.get(main?.streamId ?? '')?.findLast(({ from }) => from < main!.bytes)
    return {
      archive_id: record.archiveId,
      session_id: record.sessionId,
      title: titleOf(record.sessionId),
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

/** The segments each archive brought: those no older one holds. */
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

export function streamsOf(segments: readonly SegmentRecord[]): Map<string, SegmentRecord[]> {
  const streams = new Map<string, SegmentRecord[]>()
  for (const segment of segments) {
    const known = streams.get(segment.streamId)
    if (known) known.push(segment)
    else streams.set(segment.streamId, [segment])
  }
  return streams
}
