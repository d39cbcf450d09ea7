import type { Session, Spend } from '../../contract/api/session-view.js'
import type { Level } from '../../contract/level.js'
import type { Usage } from '../../contract/reading.js'
import type { SeatRecord, SessionRecord } from '../../contract/records/session.js'
import { handoffTokens, resolveLevels } from '../../policy/levels.js'
import { percentOf, remainingPercent } from '../../policy/percent.js'
import { SILENT_MS } from '../../policy/silence.js'
import { currentLevel } from '../../tracker/tracker.js'

/** Inputs of a session view besides the record. */
interface SessionViewInput {
  seat: SeatRecord | null
  enabled: boolean
  /** Levels that apply to the session. */
  levels: readonly Level[]
  /** True while the session's process runs. Null when unknown. */
  alive: boolean | null
  now: Date
}

/** Returns a session as commands and routes show it. */
export function viewSession(record: SessionRecord, input: SessionViewInput): Session {
  const { track } = record
  const { window, point } = track.limits
  const ended = record.state === 'ended' || input.alive === false
  return {
    session_id: record.sessionId,
    seat_id: record.seatId,
    parent_seat_id: input.seat?.parentSeatId ?? null,
    agent: record.agent,
    agent_version: record.agentVersion,
    project: record.project,
    cwd: record.cwd,
    branch: record.branch,
    model: record.model ?? track.model,
    title: record.title?.text ?? null,
    state: ended ? 'ended' : record.state,
    used_tokens: track.used,
    window_tokens: window,
    compaction_tokens: point,
    compaction_mode: point === null && window === null ? null : track.limits.mode,
    handoff_tokens: handoffTokens(resolveLevels(input.levels, track.limits)),
    used_percent: percentOf(track.used, window),
    compaction_percent: percentOf(track.used, point),
    remaining_percent: remainingPercent(track.used, point),
    source: track.source,
    exact: track.used !== null && track.exact && track.limits.exact,
    level: currentLevel(track),
    cycle: track.cycle,
    compactions: record.compactions,
    handoffs: record.handoffs,
    updated_at: track.readAt,
    stale: !ended && isStale(record, input.now),
    enabled: input.enabled,
    last_handoff_path: record.lastHandoffPath,
    transcript_path: record.transcriptPath,
    spend: viewSpend(record.spend, record.costUsd),
  }
}

/** True when a working session had no reading for ten minutes. */
function isStale(record: SessionRecord, now: Date): boolean {
  if (record.state !== 'working') return false
  const since = record.track.readAt ?? record.startedAt
  return now.getTime() - Date.parse(since) > SILENT_MS && Date.parse(record.seenAt) > Date.parse(since)
}

export function viewSpend(spend: Usage & { answers: number }, costUsd: number | null): Spend {
  const input = spend.input + spend.cacheCreation + spend.cacheRead
  return {
    input_tokens: spend.input,
    output_tokens: spend.output,
    cache_creation_tokens: spend.cacheCreation,
    cache_read_tokens: spend.cacheRead,
    cache_hit_rate: input === 0 ? null : Math.round((spend.cacheRead / input) * 1000) / 1000,
    cost_usd: costUsd,
  }
}
