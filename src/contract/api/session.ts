import type { CompactionMode, Source } from '../reading.js'
import type { HandoffState } from '../records/handoff.js'

export type SessionState = 'working' | 'idle' | 'waiting' | 'compacting' | 'ended' | 'unknown'

export interface Spend {
  input_tokens: number
  output_tokens: number
  cache_creation_tokens: number
  cache_read_tokens: number
  /** Cache reads over all input, 0 to 1; null before the first answer. */
  cache_hit_rate: number | null
  /** What the client itself says the session cost; null where it does not say. */
  cost_usd: number | null
}

/** A session as every command and route shows it. A figure not known is null, never 0. */
export interface Session {
  session_id: string
  seat_id: string
  parent_seat_id: string | null
  agent: string
  agent_version: string | null
  project: string | null
  cwd: string | null
  branch: string | null
  model: string | null
  /**
   * The client's own title, else the shortened first request, of a job its agent and work item;
   * null without either.
   */
  title: string | null
  state: SessionState
  used_tokens: number | null
  window_tokens: number | null
  compaction_tokens: number | null
  compaction_mode: CompactionMode | null
  /** Where the first level asks for a handoff; null when none does or its place is not known. */
  handoff_tokens: number | null
  /** Of the window. */
  used_percent: number | null
  /** Of the compaction point. */
  compaction_percent: number | null
  /** What is left before compaction, of the compaction point; never negative. */
  remaining_percent: number | null
  source: Source | null
  exact: boolean
  level: string | null
  cycle: number
  compactions: number
  handoffs: number
  updated_at: string | null
  stale: boolean
  enabled: boolean
  last_handoff_path: string | null
  /** The handoff of its seat that is under way; null: none is. Told where sessions are listed or shown. */
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
