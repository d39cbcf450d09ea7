import type { Session } from '../contract/api/session.js'
import type { ResolvedLevel } from '../contract/level.js'
import type { CompactionMode, Source } from '../contract/reading.js'
import type { SessionRecord } from '../contract/records/session.js'
import { fullness } from '../policy/texts.js'

/** A session as the library shows it. How full it is and what it spent are two things; a figure not known is null, never 0. */
export interface UsageState {
  session_id: string
  model: string | null

  /** How full: input + cache creation + cache read of the last answer. null: nothing answered since the start or the last reset. */
  used_tokens: number | null
  /** The model's window. */
  window_tokens: number | null
  /** Where the agent compacts, or refuses when `compaction_mode` is off. */
  compaction_tokens: number | null
  compaction_mode: CompactionMode | null
  /** `used_tokens` of `window_tokens`. */
  used_percent: number | null
  /** `used_tokens` of `compaction_tokens`. */
  compaction_percent: number | null
  /** What is left before compaction, of the compaction point; never negative. */
  remaining_percent: number | null
  /** The older tracker's name for `compaction_percent`: the figure levels are written in. */
  percentage_used: number | null
  /** The figures in a sentence, with the reason when they are not of the usual kind. */
  description: string
  /** True only when the client itself told both the figure and the compaction point. */
  exact: boolean
  source: Source | null

  /** The highest level at or below the present figure. */
  threshold_reached: string | null
  /** The highest level crossed in this cycle: stays when the figure falls. */
  level: string | null
  /**
   * The figure has reached a level that asks for a handoff, Baton is not switched off, and the session
   * is not being compacted: then the figure is about to fall by itself.
   */
  auto_pause_active: boolean
  cycle: number
  compactions: number
  enabled: boolean

  /** Spend: running totals over all answers of the session. Never a measure of how full it is. */
  cumulative_input_tokens: number
  cumulative_output_tokens: number
  cache_creation_tokens: number
  cache_read_tokens: number
  /** How many answers were counted. */
  answers: number
  /** What the client says the session cost; null where it does not say. */
  cost_usd: number | null

  /** ISO 8601, UTC; null: nothing was told of this session yet. */
  last_updated: string | null
}

/** The state after a call that told something. */
export interface UsageUpdate extends UsageState {
  /** Levels reached for the first time in this cycle by this very call, lowest first: act on these once. */
  crossed: string[]
}

/** The older tracker's summary. */
export interface UsageSummary {
  session_id: string
  /** How full, as `used_tokens`. */
  total_tokens: number | null
  /** What `percentage_used` is of: the compaction point. */
  budget: number | null
  percentage_used: number | null
  threshold_reached: string | null
  auto_pause_active: boolean
  /** Spend: running totals over all answers. They do not add up to `total_tokens`. */
  breakdown: { input_tokens: number; output_tokens: number; cache_creation_tokens: number; cache_read_tokens: number }
  last_updated: string | null
  /** The model's window, and `total_tokens` of it. */
  window_tokens: number | null
  used_percent: number | null
}

export function stateOf(record: SessionRecord, session: Session, levels: readonly ResolvedLevel[]): UsageState {
  const { spend, track } = record
  return {
    session_id: record.sessionId,
    model: session.model,
    used_tokens: session.used_tokens,
    window_tokens: session.window_tokens,
    compaction_tokens: session.compaction_tokens,
    compaction_mode: session.compaction_mode,
    used_percent: session.used_percent,
    compaction_percent: session.compaction_percent,
    remaining_percent: session.remaining_percent,
    percentage_used: session.compaction_percent,
    description: fullness(track),
    exact: session.exact,
    source: session.source,
    threshold_reached: reached(track.used, levels).at(-1)?.name ?? null,
    level: session.level,
    auto_pause_active:
      session.enabled && session.state !== 'compacting' && reached(track.used, levels).some(asksForHandoff),
    cycle: session.cycle,
    compactions: session.compactions,
    enabled: session.enabled,
    cumulative_input_tokens: spend.input,
    cumulative_output_tokens: spend.output,
    cache_creation_tokens: spend.cacheCreation,
    cache_read_tokens: spend.cacheRead,
    answers: spend.answers,
    cost_usd: record.costUsd,
    last_updated: record.seenAt,
  }
}

/** Levels at or below the figure, lowest first. */
export function reached(used: number | null, levels: readonly ResolvedLevel[]): ResolvedLevel[] {
  return used === null ? [] : levels.filter((level) => level.atTokens !== null && level.atTokens <= used)
}

function asksForHandoff(level: ResolvedLevel): boolean {
  return level.actions.some((action) => action === 'request-handoff' || action === 'hand-off' || action === 'pause')
}

/** A session nobody has told anything of. */
export function blankState(sessionId: string, enabled: boolean): UsageState {
  return {
    session_id: sessionId,
    model: null,
    used_tokens: null,
    window_tokens: null,
    compaction_tokens: null,
    compaction_mode: null,
    used_percent: null,
    compaction_percent: null,
    remaining_percent: null,
    percentage_used: null,
    description: 'context use is not known yet',
    exact: false,
    source: null,
    threshold_reached: null,
    level: null,
    auto_pause_active: false,
    cycle: 1,
    compactions: 0,
    enabled,
    cumulative_input_tokens: 0,
    cumulative_output_tokens: 0,
    cache_creation_tokens: 0,
    cache_read_tokens: 0,
    answers: 0,
    cost_usd: null,
    last_updated: null,
  }
}

export function summaryOf(state: UsageState): UsageSummary {
  return {
    session_id: state.session_id,
    total_tokens: state.used_tokens,
    budget: state.compaction_tokens,
    percentage_used: state.percentage_used,
    threshold_reached: state.threshold_reached,
    auto_pause_active: state.auto_pause_active,
    breakdown: {
      input_tokens: state.cumulative_input_tokens,
      output_tokens: state.cumulative_output_tokens,
      cache_creation_tokens: state.cache_creation_tokens,
      cache_read_tokens: state.cache_read_tokens,
    },
    last_updated: state.last_updated,
    window_tokens: state.window_tokens,
    used_percent: state.used_percent,
  }
}
