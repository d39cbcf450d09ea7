import type { Fact, FactKind } from '../fact.js'

/** Of the facts that stood in the conversation, how many summary and kept tail still carry, and which they do not. */
export interface LossReport {
  total: number
  kept: number
  byKind: Partial<Record<FactKind, { total: number; kept: number }>>
  /** Those not carried, by how much further work depends on each, most first. */
  lost: Fact[]
}

/** What Baton knows about one compaction of a session, kept beside the session's own record. */
export interface CompactionRecord {
  sessionId: string
  /** Equal to the `startedAt` of the session's compaction in progress. */
  startedAt: string
  trigger: 'auto' | 'manual'
  transcriptPath: string | null
  /** Size of the transcript when it began: what was written later belongs to the next cycle. */
  bytes: number
  archiveId: string | null
  /** Last line of the transcript that an earlier compaction replaced; 0: none did. */
  sinceLine: number
  /** Lines of the transcript when it began; 0: not counted. */
  lines: number
  /** Ranked, most needed first; null: not read yet. */
  facts: Fact[] | null
  /** Why there are none; null: there are, or they are still being read. */
  trouble: string | null
  loss: LossReport | null
  /** What was put back: the facts named in each step, by their keys. null: that step was not taken. */
  first: { at: string; keys: string[] } | null
  second: { at: string; keys: string[] } | null
}
