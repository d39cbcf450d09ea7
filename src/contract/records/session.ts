import type { EventData } from '../api/event-data.js'
import type { SessionState } from '../api/session.js'
import type { Limits, Source, Usage } from '../reading.js'
import type { Cursor, PlanLimit } from '../signal.js'

/** A level that was crossed in the current cycle. */
export interface Latch {
  name: string
  atTokens: number
  crossedAt: string
  /**
   * True when a monitor reported the number.
   * The level's handoff then waits for a reading of Baton's own.
   */
  reported?: true
}

/** The tracker's state of one session. Only pure code in `tracker/` changes it. */
export interface Track {
  /** Number of the cycle, counted from 1. Rises with each reset. */
  cycle: number
  cycleStartedAt: string
  cycleReason: 'start' | 'resume' | 'compaction' | 'clear' | 'handoff' | 'enabled'
  used: number | null
  usage: Usage | null
  exact: boolean
  source: Source | null
  model: string | null
  answerId: string | null
  /**
   * Baton's time of the last accepted reading, without those of monitors. Null before the first.
   */
  readAt: string | null
  /** The first number of this cycle, to measure how much was added since. Null before it. */
  base: number | null
  limits: Limits
  latched: Latch[]
  /** Merged sequence of readings in this cycle, newest last, limited in length. */
  seen: number[]
  /**
   * Tokens per step that forecasts use, see `holdGrowth`. Null when the cycle did not grow yet; absent
   * in records of earlier versions.
   */
  perStep?: number | null
  /** Index in `seen` that each source has reached. */
  reached: Partial<Record<Source, number>>
  /** The end of the previous cycle, to recognise readings that arrive late. */
  before: { seen: number[]; reached: Partial<Record<Source, number>> }
  /** Highest stamp of each source's own clock. */
  stamps: Partial<Record<Source, number>>
  /** True from a reset until the transcript shows the first answer after it. */
  fresh: boolean
}

/** Progress of one compaction. Several signals announce it; each is counted once. */
export interface CompactionProgress {
  startedAt: string
  trigger: 'auto' | 'manual'
  usedBefore: number | null
  /** The announcements received so far. The first one after compact-start resets the cycle. */
  seen: ('compact-start' | 'session-start' | 'compact-end' | 'boundary' | 'figure-lost')[]
  after: number | null
  durationMs: number | null
  overflow: boolean
  summary: string | null
  completed: boolean
  /**
   * True when the client compacted by itself between turns, before its prompt cache expired.
   * Absent otherwise.
   */
  idle?: true
  /** True when the client's summariser failed. */
  failing?: boolean
  /** True when another hook or program was asked about the compaction and may have blocked it. */
  mayBeForbidden?: boolean
  /**
   * Index in the cycle's readings of the last answer before the compaction.
   * Set when the transcript did not contain that answer yet.
   */
  lacks?: number
}

/**
 * The name of a session in lists: one line of at most 80 characters.
 *
 * by        the title comes from                          may be replaced by
 * request   the user's first request, shortened           client, named, job
 * client    the client, which named the conversation      client, named, job
 * named     the user, in the client                       named, job
 * job       the agent and work item, or prompt, of a job  nothing
 */
export interface SessionTitle {
  text: string
  by: 'request' | 'client' | 'named' | 'job'
}

/** The stored record of one session. */
export interface SessionRecord {
  sessionId: string
  agent: string
  seatId: string
  agentVersion: string | null
  project: string | null
  cwd: string | null
  branch: string | null
  model: string | null
  /** Absent or null when the session has no title yet, or it was forgotten. */
  title?: SessionTitle | null
  state: SessionState
  /** True when a user sits at the client, false in an unattended run. Null when unknown. */
  attended: boolean | null
  jobId: string | null
  process: { pid: number; startedAt: string } | null
  transcriptPath: string | null
  cursor: Cursor | null
  /** The time of its first signal itself, which may have waited in the spool. */
  startedAt: string
  /** Baton's time of the first signal. Absent: the same as `startedAt`. */
  metAt?: string
  /** Baton's time of the last signal. */
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
  /** Tool calls since the last reading. Many without a reading raise the silence alarm. */
  silence: { toolCalls: number; since: string; alarmed: boolean }
  /** Ids of tool calls that the transcript did not contain when their hook was answered. */
  unsettled: string[]
  /** Whether Baton was enabled at the last signal. Absent in records of earlier versions. */
  enabled?: boolean
  /**
   * The handoff that this session takes part in, as the old session or the fresh one.
   * Absent or null when there is none.
   */
  handoffId?: string | null
  /**
   * Folder in which the client reports its state, if Baton can type into its terminal.
   * Absent or null when it cannot.
   */
  terminal?: { configDir: string } | null
  /** Bytes of the transcript from which facts were extracted for storage. Absent when none were. */
  factsKeptAt?: number
  /**
   * Set when the session is over and Baton still has to decide whether it needs a brief.
   * `gone`: the client died while it worked. Absent or null when nothing is to be decided.
   */
  briefWanted?: 'ended' | 'gone' | null
  /**
   * Data of `context_warning` events that still wait for `inputTokens` and `cacheTokens`,
   * which only the transcript has. Oldest first. Absent when there are none.
   */
  dueWarnings?: EventData['context_warning'][]
  /** How often a message at the end of this turn made the agent continue. Absent when never. */
  insisted?: number
  /**
   * When the user had the session forgotten. Lists omit it until its next signal. Absent otherwise.
   */
  forgottenAt?: string
  /**
   * Bytes of the transcript in archives that were removed since.
   * The sweep does not archive them again. Absent when none was removed.
   */
  droppedBytes?: number
  /**
   * Fingerprint of the levels in force.
   * When it changes, messages about the old levels are outdated.
   */
  levelsKey: string
  /** Why the configuration in force is not the one on disk. Null when it is. */
  configTrouble: string | null
}

/** The stored record of one subagent. Its tokens are never mixed into its session's. */
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

/** The stored record of one seat. */
export interface SeatRecord {
  seatId: string
  /** Name from BATON_SEAT or `baton name`. Null when the seat has none. */
  name: string | null
  parentSeatId: string | null
  process: { pid: number; startedAt: string } | null
  createdAt: string
}

/** A reading as stored, with the limits at that time. */
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
