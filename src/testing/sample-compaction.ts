import type { CompactionRecord } from '../contract/records/compaction.js'

/** Returns a finished compaction with nothing lost. */
export function aCompaction(change: Partial<CompactionRecord> = {}): CompactionRecord {
  return {
    sessionId: 'd76d6c4d-ef1f-4334-9716-3be98836406b',
    startedAt: '2026-03-01T11:30:00.000Z',
    trigger: 'auto',
    transcriptPath: null,
    bytes: 1000,
    lines: 40,
    archiveId: 'a1',
    sinceLine: 0,
    facts: [],
    trouble: null,
    loss: { total: 0, kept: 0, byKind: {}, lost: [] },
    first: null,
    second: null,
    ...change,
  }
}
