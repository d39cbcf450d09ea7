import type { SessionRow, SubagentShown } from '../contract/api/sessions.js'
import type { Policy } from '../contract/policy.js'
import type { SessionRecord, SubagentRecord } from '../contract/record.js'
import type { Session } from '../contract/session.js'
import { percentOf } from '../policy/percent.js'
import { growthOf, stepsTo } from '../tracker/forecast.js'
import type { Lookout } from './overlooked.js'
import { levelViews } from './queries.js'
import { viewSpend } from './view.js'
import { underWay } from './view-brief.js'

/** A session among others, with what a row of it needs beside its figures. */
export function rowOf(lookout: Lookout, record: SessionRecord, session: Session, policy: Policy): SessionRow {
  const { store } = lookout
  const { track } = record
  const growth = growthOf(track)
  const { point } = track.limits
  return {
    ...session,
    seat_name: store.seat(record.seatId)?.name ?? null,
    job_id: record.jobId,
    started_at: record.startedAt,
    ended_at: record.endedAt,
    seen_at: record.seenAt,
    tokens_per_step: growth === null ? null : Math.round(growth.perStep),
    steps_left: growth === null || point === null || track.used === null ? null : stepsTo(point - track.used, growth).steps,
    handoff: underWay(lookout, record.seatId),
    subagents: store.subagents(record.sessionId).map(viewSubagent),
    levels: levelViews(record, policy),
  }
}

function viewSubagent(record: SubagentRecord): SubagentShown {
  return {
    subagent_id: record.subagentId,
    type: record.type,
    description: record.description,
    model: record.model,
    used_tokens: record.used,
    window_tokens: record.limits.window,
    used_percent: percentOf(record.used, record.limits.window),
    exact: record.exact,
    updated_at: record.updatedAt,
    spend: viewSpend(record.spend, null),
  }
}
