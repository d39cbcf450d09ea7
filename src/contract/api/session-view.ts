import type { CompactionMode, ReadingSource } from '../reading.js'
import type { HandoffState } from '../records/handoff.js'

/**
 * `waiting`: for the user's permission or answer.
 * `unknown`: no signal tells what the client is doing.
 */
export type SessionState = 'working' | 'idle' | 'waiting' | 'compacting' | 'ended' | 'unknown'

/** Tokens and cost of one session or job. */
export interface Spend {
  input_tokens: number
  output_tokens: number
  cache_creation_tokens: number
  cache_read_tokens: number
  /** Share of the input that was read from the cache, 0 to 1. Null before the first answer. */
  cache_hit_rate: number | null
  /** Cost that the client itself reports. Null when it reports none. */
  cost_usd: number | null
}

/** A session as every command and route shows it. Unknown numbers are null, never 0. */
export interface Session {
  session_id: string
  seat_id: string
  /** The seat (terminal or job) that started this one. Null when no other seat did. */
  parent_seat_id: string | null
  agent: string
  /** Version of the client. Null when no signal contained it. */
  agent_version: string | null
  /** Project folder. Null when no signal named one. */
  project: string | null
  /** Working directory of the client. Null when no signal named it. */
  cwd: string | null
  /** Git branch. Null outside a repository, or when unknown. */
  branch: string | null
  /** Model of the session. Null while unknown. */
  model: string | null
  /**
   * Title from the client, or else the first request, shortened.
   * A job's session is named by the job's agent and work item. Null when there is no title.
   */
  title: string | null
  state: SessionState
  /** Tokens used in the last reading. Null from a compaction or clear until the next answer. */
  used_tokens: number | null
  /** The model's context window. Null while unknown. */
  window_tokens: number | null
  /** Tokens at which the agent compacts, or refuses if compaction is off. Null while unknown. */
  compaction_tokens: number | null
  /** When the client compacts. Null while unknown. */
  compaction_mode: CompactionMode | null
  /**
   * Tokens at which the first level (warning threshold) asks for a handoff.
   * Null when no level asks for one or its place is unknown.
   */
  handoff_tokens: number | null
  /** Percentage of the context window in use. Null while unknown. */
  used_percent: number | null
  /** Tokens used as a percentage of the compaction point. Null while unknown. */
  compaction_percent: number | null
  /** Percentage that remains before the compaction point. Never negative. Null while unknown. */
  remaining_percent: number | null
  /** Source of the last token reading. Null before the first. */
  source: ReadingSource | null
  /** False when `used_tokens` is an estimate. */
  exact: boolean
  /** Name of the highest level (warning threshold) crossed in this cycle. Null when none was. */
  level: string | null
  cycle: number
  compactions: number
  handoffs: number
  /** Time of the last reading. Null before the first. */
  updated_at: string | null
  /** True when an active session has had no reading for 10 minutes. */
  stale: boolean
  /** False when Baton is switched off for this session. */
  enabled: boolean
  /** Path of the last brief that this session received. Null when there was none. */
  last_handoff_path: string | null
  /**
   * The handoff in progress of this seat (terminal or job).
   * Null when there is none. Absent where sessions are not listed or shown.
   */
  handoff?: {
    handoff_id: string
    state: HandoffState
    state_at: string
    session_id: string
    brief_id: string | null
  } | null
  /** Path of the client's transcript. Null while unknown. */
  transcript_path: string | null
  spend: Spend
}
