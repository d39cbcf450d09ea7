import type { EventData } from '../api/event-data.js'
import type { SessionState } from '../api/session.js'
import type { Limits, Source, Usage } from '../reading.js'
import type { Cursor, PlanLimit } from '../signal.js'

/** A level reached in the current cycle. */
export interface Latch {
  name: string
  atTokens: number
  crossedAt: string
  /**
   * A monitor reported the figure, so the level's handoff still waits for a figure of Baton's own.
   */
  reported?: true
}

/** What the tracker knows of one climb. Everything here is judged by pure code in `tracker/`. */
export interface Track {
  /** Rises by one with each reset; the first climb is 1. */
  cycle: number
  cycleStartedAt: string
  cycleReason: 'start' | 'resume' | 'compaction' | 'clear' | 'handoff' | 'enabled'
  used: number | null
  usage: Usage | null
  exact: boolean
  source: Source | null
  model: string | null
  answerId: string | null
  /** Our time of the last accepted reading that was not a monitor's; null: none yet. */
  readAt: string | null
  /** The first figure of this cycle, to tell how much new work it holds. */
  base: number | null
  limits: Limits
  latched: Latch[]
  /** The merged sequence of figures in this cycle, newest last, bounded. */
  seen: number[]
  /** For each source: the index in `seen` it has reached. */
  reached: Partial<Record<Source, number>>
  /** The end of the cycle before: figures that may still arrive late. */
  before: { seen: number[]; reached: Partial<Record<Source, number>> }
  /** For each source: the highest stamp of its own clock. */
  stamps: Partial<Record<Source, number>>
  /** True from a reset until the transcript shows the first answer after it. */
  fresh: boolean
}

/** How far the signs of one compaction have come in; each sign counts once. */
export interface CompactionProgress {
  startedAt: string
  trigger: 'auto' | 'manual'
  usedBefore: number | null
  /** The signs seen so far; the first after compact-start resets the cycle. */
  seen: ('compact-start' | 'session-start' | 'compact-end' | 'boundary' | 'figure-lost')[]
  after: number | null
  durationMs: number | null
  overflow: boolean
  summary: string | null
  completed: boolean
  /** The client compacted between turns, by itself, before its prompt cache expired. Absent: it did not. */
  idle?: true
  /** Its summariser failed. */
  failing?: boolean
  /** Somebody else was asked about it too, and may have said no. */
  mayBeForbidden?: boolean
  /** The last answer before it was not written yet when it began: its figure will be this one of the cycle's. */
  lacks?: number
}

/**
 * The name of a session in lists, at most 80 characters in one line.
 *
 * by        the title was given by                        replaced by
 * request   the first request of the user, shortened      client, named, job
 * client    the client, which named the conversation      client, named, job
 * named     the user, in the client                       named, job
 * job       the agent and work item, or prompt, of a job  nothing
 */
export interface SessionTitle {
  text: string
  by: 'request' | 'client' | 'named' | 'job'
}

/** Everything the store keeps of one session. */
export interface SessionRecord {
  sessionId: string
  agent: string
  seatId: string
  agentVersion: string | null
  project: string | null
  cwd: string | null
  branch: string | null
  model: string | null
  /** Absent or null: nobody has given it one yet, or it was forgotten. */
  title?: SessionTitle | null
  state: SessionState
  attended: boolean | null
  jobId: string | null
  process: { pid: number; startedAt: string } | null
  transcriptPath: string | null
  cursor: Cursor | null
  startedAt: string
  /** Our time of the last signal. */
  seenAt: string
  endedAt: string | null
  track: Track
  compaction: CompactionProgress | null
  compactions: number
  handoffs: number
  lastHandoffPath: string | null
  spend: Usage & { answers: number }
  costUsd: number | null
  planLimits: PlanLimit[] | null
  /** Signs of work since the last reading: an enabled session without readings is an alarm. */
  silence: { toolCalls: number; since: string; alarmed: boolean }
  /** Ids of a batch the transcript did not hold yet when its hook was answered. */
  unsettled: string[]
  /** As judged with the last signal; absent in records of before. */
  enabled?: boolean
  /** The handoff this session takes part in, as the old one or as the fresh one; absent or null: none. */
  handoffId?: string | null
  /** Where the client says what it does, if it sits in a terminal that can be typed into; absent or null: it does not. */
  terminal?: { configDir: string } | null
  /** How far facts were read from its transcript for keeping, in bytes; absent: they were not. */
  factsKeptAt?: number
  /** It is over, and Baton has yet to see whether a brief of it is worth writing. `gone`: its client died at work. Absent or null: no. */
  briefWanted?: 'ended' | 'gone' | null
  /**
   * Data of `context_warning` events whose `inputTokens` and `cacheTokens` the transcript has yet to
   * tell, oldest first; absent: there are none.
   */
  dueWarnings?: EventData['context_warning'][]
  /** How often in this turn the agent was made to go on with a message at its end; absent: never. */
  insisted?: number
  /** When a person had it forgotten; lists leave it out until it is heard of again. Absent: nobody had. */
  forgottenAt?: string
  /**
   * How much of its transcript archives held that were removed since: the sweep does not archive it
   * again. Absent: none was removed.
   */
  droppedBytes?: number
  /** Fingerprint of the levels in force: when it changes, alerts of the old ones are stale. */
  levelsKey: string
  /** Why the configuration in force is not the one on disk; null: it is. */
  configTrouble: string | null
}

export interface SubagentRecord {
  sessionId: string
  subagentId: string
  type: string | null
  description: string | null
  model: string | null
  used: number | null
  limits: Limits
  exact: boolean
  cursor: Cursor
  spend: Usage & { answers: number }
  updatedAt: string
}

export interface SeatRecord {
  seatId: string
  /** Given by BATON_SEAT or `baton name`; null: it has none. */
  name: string | null
  parentSeatId: string | null
  process: { pid: number; startedAt: string } | null
  createdAt: string
}

export interface StoredReading {
  sessionId: string
  cycle: number
  at: string
  used: number
  window: number | null
  point: number | null
  model: string | null
  source: Source
  exact: boolean
}
