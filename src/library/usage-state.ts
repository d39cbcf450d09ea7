import type { Session } from '../contract/api/session-view.js'
import type { ResolvedLevel } from '../contract/level.js'
import type { CompactionMode, ReadingSource } from '../contract/reading.js'
import type { SessionRecord } from '../contract/records/session.js'
import { contextUseText } from '../policy/texts.js'

/** State of a session. Context use and spend are separate; an unknown number is null, never 0. */
export interface UsageState {
  session_id: string
  model: string | null

  /**
   * Input, cache creation and cache read tokens of the last answer. Null before the first answer.
   */
  used_tokens: number | null
  /** The model's context window, in tokens. */
  window_tokens: number | null
  /** Point at which the agent compacts, or refuses to continue when `compaction_mode` is off. */
  compaction_tokens: number | null
  compaction_mode: CompactionMode | null
  /** Percentage of `window_tokens` that is used. */
  used_percent: number | null
  /** Percentage of `compaction_tokens` that is used. */
  compaction_percent: number | null
  /** Percentage of `compaction_tokens` that is left; never negative. */
  remaining_percent: number | null
  /** Same as `compaction_percent`, under the name that older trackers use. Levels refer to it. */
  percentage_used: number | null
  /** The numbers in a sentence, with the reason when they are unusual. */
  description: string
  /** True only when the client itself reported both the use and the compaction point. */
  exact: boolean
  source: ReadingSource | null

  /** Highest level (warning threshold) at or below the current use. Null when there is none. */
  threshold_reached: string | null
  /** Highest level (warning threshold) crossed in this cycle. Stays the same when the use falls. */
  level: string | null
  /**
   * True when the use has reached a level that asks for a handoff and Baton is on.
   * False during a compaction, because the use is about to fall by itself.
   */
  auto_pause_active: boolean
  cycle: number
  compactions: number
  enabled: boolean

  /** Input tokens of all answers of the session. This is spend, not a measure of context use. */
  cumulative_input_tokens: number
  cumulative_output_tokens: number
  cache_creation_tokens: number
  cache_read_tokens: number
  /** Number of counted answers. */
  answers: number
  /** Cost of the session as its client reports it. Null when the client reports none. */
  cost_usd: number | null

  /** Time of the last report, ISO 8601 in UTC. Null before the first one. */
  last_updated: string | null
}

/** State of a session after a call that recorded usage. */
export interface UsageUpdate extends UsageState {
  /** Levels that this call reached first in this cycle, lowest first. Act on each level once. */
  crossed: string[]
}

/** Summary of a session in the shape of older trackers. */
export interface UsageSummary {
  session_id: string
  /** Context use, the same as `used_tokens`. */
  total_tokens: number | null
  /** The compaction point in tokens. `percentage_used` is a percentage of it. */
  budget: number | null
  percentage_used: number | null
  threshold_reached: string | null
  auto_pause_active: boolean
  /** Spend of all answers. The numbers do not add up to `total_tokens`. */
  breakdown: { input_tokens: number; output_tokens: number; cache_creation_tokens: number; cache_read_tokens: number }
  last_updated: string | null
  /** The model's context window. `used_percent` is the used part of it. */
  window_tokens: number | null
  used_percent: number | null
}

export function usageStateOf(record: SessionRecord, session: Session, levels: readonly ResolvedLevel[]): UsageState {
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
    description: contextUseText(track),
    exact: session.exact,
    source: session.source,
    threshold_reached: reachedLevels(track.used, levels).at(-1)?.name ?? null,
    level: session.level,
    auto_pause_active:
      session.enabled && session.state !== 'compacting' && reachedLevels(track.used, levels).some(asksForHandoff),
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

/** Returns the levels at or below the used tokens, lowest first. */
export function reachedLevels(used: number | null, levels: readonly ResolvedLevel[]): ResolvedLevel[] {
  return used === null ? [] : levels.filter((level) => level.atTokens !== null && level.atTokens <= used)
}

function asksForHandoff(level: ResolvedLevel): boolean {
  return level.actions.some((action) => action === 'request-handoff' || action === 'hand-off' || action === 'pause')
}

/** State of a session without any report. */
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

export function usageSummaryOf(state: UsageState): UsageSummary {
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
