import type { Fact, FactKind } from '../fact.js'

/**
 * How many facts of a conversation survived its compaction, and which were lost.
 * A fact survived when the summary or the messages kept after it still contain the fact.
 */
export interface LossReport {
  total: number
  kept: number
  byKind: Partial<Record<FactKind, { total: number; kept: number }>>
  /** Facts that did not survive, ordered by how much later work depends on them. */
  lost: Fact[]
}

/** The stored record of one compaction. */
export interface CompactionRecord {
  sessionId: string
  /** Start time, equal to `CompactionProgress.startedAt` of the session. */
  startedAt: string
  trigger: 'auto' | 'manual'
  /** Path of the transcript. Null when the session has none. */
  transcriptPath: string | null
  /** Size of the transcript when the compaction began. Later bytes belong to the next cycle. */
  bytes: number
  /** Archive that was made before the compaction. Null when there is none. */
  archiveId: string | null
  /** Last line of the transcript that an earlier compaction replaced. 0 when there was none. */
  sinceLine: number
  /** Number of lines in the transcript when the compaction began. 0 when not counted. */
  lines: number
  /** Facts, most needed first. Null until they have been read. */
  facts: Fact[] | null
  /** Why there are no facts. Null when there are some, or they are still being read. */
  trouble: string | null
  /** Comparison with the summary. Null until both facts and summary are known. */
  loss: LossReport | null
  /** Facts that each recovery step put back, by their keys. Null when the step did not happen. */
  first: { at: string; keys: string[] } | null
  second: { at: string; keys: string[] } | null
}
