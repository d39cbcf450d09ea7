import type { EventData } from '../api/event-data.js'
import type { SessionState } from '../api/session-view.js'
import type { Limits, ReadingSource, Usage } from '../reading.js'
import type { Cursor, PlanLimit } from '../signal.js'

/** A level (warning threshold) that was crossed in the current cycle. */
export interface CrossedLevel {
  name: string
  atTokens: number
  crossedAt: string
  /**
   * True when a monitor reported the token count.
   * The level's handoff then waits for a measurement of Baton's own.
   */
  reported?: true
}

/** The state of one session's token measurement. Only pure code in `tracker/` changes it. */
export interface Track {
  /** Number of the cycle, from 1. A compaction, clear or handoff begins the next cycle. */
  cycle: number
  /** Time at which the current cycle (the time between two compactions or clears) began. */
  cycleStartedAt: string
  /** Event that began the current cycle. */
  cycleReason: 'start' | 'resume' | 'compaction' | 'clear' | 'handoff' | 'enabled'
  /**
   * Tokens used in the last accepted reading. Null from the start of a cycle to its first answer.
   */
  used: number | null
  /**
   * The token counts behind `used`. Null when the source reports only the sum, or `used` is null.
   */
  usage: Usage | null
  /** False when `used` is an estimate. */
  exact: boolean
  /** The source of `used`. Null while `used` is null. */
  source: ReadingSource | null
  /** Model of the last answer. Null while unknown. */
  model: string | null
  /** Id of the last answer. Null when no source reported it. */
  answerId: string | null
  /** Time of the last accepted reading by Baton's clock, except from monitors. Null before it. */
  readAt: string | null
  /** The first token count of this cycle, to measure growth since then. Null before it. */
  base: number | null
  limits: Limits
  latched: CrossedLevel[]
  /** The newest token counts of this cycle, merged from Baton's own sources, newest last. */
  seen: number[]
  /**
   * Tokens per step that forecasts use, see `holdGrowth`. Null when the cycle has not grown yet.
   * Absent in records of earlier versions.
   */
  perStep?: number | null
  /** Index in `seen` that each source has reached. */
  reached: Partial<Record<ReadingSource, number>>
  /** The end of the previous cycle, to recognise readings that arrive late. */
  before: { seen: number[]; reached: Partial<Record<ReadingSource, number>> }
  /** Highest stamp of each source's own clock. */
  stamps: Partial<Record<ReadingSource, number>>
  /** True from the start of a cycle until the transcript shows the cycle's first answer. */
  fresh: boolean
}

/** Progress of one compaction. Several signals announce a compaction, and each is counted once. */
export interface CompactionProgress {
  startedAt: string
  trigger: 'auto' | 'manual'
  /** Tokens used before the compaction. Null when unknown. */
  usedBefore: number | null
  /** The announcements received so far. The first one after compact-start begins a new cycle. */
  seen: ('compact-start' | 'session-start' | 'compact-end' | 'boundary' | 'figure-lost')[]
  /** Tokens used after the compaction, as the client reports them. Null when not reported. */
  after: number | null
  /** Duration of the compaction. Null when the client does not report it. */
  durationMs: number | null
  /** True when the model had refused the conversation as too long. */
  overflow: boolean
  /** The summary that replaced the conversation. Null until the client has reported it. */
  summary: string | null
  /** True once the outcome is settled, also when the compaction failed. */
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
  /** Version of the client. Null when no signal contained it. */
  agentVersion: string | null
  /** Folder of the project, or else the first working directory. Null when no signal named one. */
  project: string | null
  /** Working directory of the client. Null when no signal named it. */
  cwd: string | null
  /** Git branch in the working directory. Null outside a repository, or when unknown. */
  branch: string | null
  /** Model of the session. Null until a signal or an answer names it. */
  model: string | null
  /** Absent or null when the session has no title yet, or it was forgotten. */
  title?: SessionTitle | null
  state: SessionState
  /** True when a user sits at the client, false in an unattended run. Null when unknown. */
  attended: boolean | null
  /** The job that runs the session. Null outside a job. */
  jobId: string | null
  /** Process of the client, with its start time. Null when it was never identified. */
  process: { pid: number; startedAt: string } | null
  /** Path of the client's transcript. Null until a signal names it. */
  transcriptPath: string | null
  /** How far the transcript has been read. Null before the first read. */
  cursor: Cursor | null
  /** Time of the first signal by its own clock. The signal may have waited in the spool. */
  startedAt: string
  /** Time of the first signal by Baton's clock. Absent when it equals `startedAt`. */
  metAt?: string
  /** Time of the last signal by Baton's clock. */
  seenAt: string
  /** When the session ended. Null while it is running. */
  endedAt: string | null
  track: Track
  /** The compaction in progress, or the last one. Null when there was none. */
  compaction: CompactionProgress | null
  compactions: number
  handoffs: number
  /** Path of the last brief that this session received. Null when there was none. */
  lastHandoffPath: string | null
  /** Tokens of all answers on the main chain. Subagents have records of their own. */
  spend: Usage & { answers: number }
  /** Total cost that the client reports. Null when it reports none. */
  costUsd: number | null
  /** Usage limits of the user's plan. Null when the client reports none. */
  planLimits: PlanLimit[] | null
  /** Tool calls since the last token reading. Many such calls raise the silence alarm. */
  silence: { toolCalls: number; since: string; alarmed: boolean }
  /** Ids of tool calls that the transcript did not contain when their hook got its answer. */
  unsettled: string[]
  /** Whether Baton was enabled at the last signal. Absent in records of earlier versions. */
  enabled?: boolean
  /**
   * The handoff that this session takes part in, as the old session or the fresh one.
   * Absent or null when there is none.
   */
  handoffId?: string | null
  /**
   * Folder in which the client reports its state, if Baton can type into the client's terminal.
   * Absent or null when Baton cannot type into it.
   */
  terminal?: { configDir: string } | null
  /** Bytes of the transcript from which facts were extracted and stored. Absent when none were. */
  factsKeptAt?: number
  /**
   * Set when the session is over and Baton must still decide whether it needs a brief.
   * `gone`: the client died while it worked. Absent or null when nothing is to be decided.
   */
  briefWanted?: 'ended' | 'gone' | null
  /**
   * Data of `context_warning` events that still wait for `inputTokens` and `cacheTokens`.
   * Only the transcript has these counts. Oldest first. Absent when there are none.
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
   * The search for unarchived transcripts ignores these bytes. Absent when none was removed.
   */
  droppedBytes?: number
  /**
   * Fingerprint of the levels (warning thresholds) in force.
   * When the fingerprint changes, messages about the old levels are outdated.
   */
  levelsKey: string
  /** Why the configuration in force is not the one on disk. Null when it is. */
  configTrouble: string | null
}

/** The stored record of one subagent, whose context is measured apart from its session's. */
export interface SubagentRecord {
  sessionId: string
  subagentId: string
  /** Kind of subagent, as the client names it. Null when unknown. */
  type: string | null
  /** The task that the subagent was given. Null when unknown. */
  description: string | null
  /** Model of the subagent. Null while unknown. */
  model: string | null
  /** Tokens used in its last answer. Null before the first. */
  used: number | null
  limits: Limits
  exact: boolean
  cursor: Cursor
  spend: Usage & { answers: number }
  updatedAt: string
}

/** The stored record of one seat: a terminal or job with its chain of sessions. */
export interface SeatRecord {
  seatId: string
  /** Name from BATON_SEAT or `baton name`. Null when the seat has none. */
  name: string | null
  /** The seat (terminal or job) that started this one. Null when no other seat did. */
  parentSeatId: string | null
  /** Process of the client in this seat. Null when it was never identified. */
  process: { pid: number; startedAt: string } | null
  createdAt: string
}

/** A token reading as stored, with the limits at that time. */
export interface StoredReading {
  sessionId: string
  cycle: number
  at: string
  used: number
  /** Context window at that time. Null when unknown. */
  window: number | null
  /** Compaction point at that time. Null when unknown. */
  point: number | null
  /** Model of the answer. Null when unknown. */
  model: string | null
  source: ReadingSource
  exact: boolean
}
