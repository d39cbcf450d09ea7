import type { CompactionMode, Source } from '../reading.js'
import type { HandoffState } from '../records/handoff.js'

/**
 * `waiting`: for the user's permission or answer.
 * `unknown`: no signal says what the client does.
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
  /** The seat that started this one. Null when no other seat did. */
  parent_seat_id: string | null
  agent: string
  agent_version: string | null
  project: string | null
  cwd: string | null
  branch: string | null
  model: string | null
  /**
   * Title from the client, or else the first request, shortened.
   * A job's session is named by its agent and work item. Null when there is none of these.
   */
  title: string | null
  state: SessionState
  used_tokens: number | null
  window_tokens: number | null
  /** Tokens at which the agent compacts, or refuses when compaction is off. */
  compaction_tokens: number | null
  compaction_mode: CompactionMode | null
  /**
   * Tokens at which the first level asks for a handoff.
   * Null when no level does or its place is unknown.
   */
  handoff_tokens: number | null
  /** Percentage of the context window in use. */
  used_percent: number | null
  /** Percentage of the way to the compaction point. */
  compaction_percent: number | null
  /** Percentage of the way that remains before compaction. Never negative. */
  remaining_percent: number | null
  source: Source | null
  /** False when `used_tokens` is an estimate. */
  exact: boolean
  /** Name of the highest level crossed in this cycle. Null when none was. */
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
  last_handoff_path: string | null
  /**
   * The seat's handoff in progress.
   * Null when there is none; absent where sessions are not listed or shown.
   */
  handoff?: {
    handoff_id: string
    state: HandoffState
    state_at: string
    session_id: string
    brief_id: string | null
  } | null
  transcript_path: string | null
  spend: Spend
}
