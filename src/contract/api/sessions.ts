import * as v from 'valibot'
import { HANDOFF_STATES } from '../handoff.js'
import { MODES } from '../level.js'
import { SOURCES } from '../reading.js'
import type { Session } from '../session.js'
import { archive } from './archives.js'
import { brief } from './briefs.js'
import { count, figure, maybe, text, time, withheld } from './shapes.js'

export const spend = v.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_tokens: count,
  cache_read_tokens: count,
  cache_hit_rate: maybe(figure),
  cost_usd: maybe(figure),
})
export type SpendView = v.InferOutput<typeof spend>

export const handoff = v.object({
  handoff_id: text,
  seat_id: text,
  session_id: text,
  state: v.picklist(HANDOFF_STATES),
  state_at: time,
  due_at: maybe(time),
  cause: text,
  level: maybe(text),
  reason: maybe(text),
  requested_at: time,
  brief_id: maybe(text),
  way: maybe(text),
  new_session_id: maybe(text),
  number: count,
  trouble: maybe(text),
  withheld,
})
export type HandoffShown = v.InferOutput<typeof handoff>

export const subagent = v.object({
  subagent_id: text,
  type: maybe(text),
  /** What it was asked to do. */
  description: maybe(text),
  model: maybe(text),
  used_tokens: maybe(count),
  window_tokens: maybe(count),
  used_percent: maybe(figure),
  exact: v.boolean(),
  updated_at: time,
  spend,
  withheld,
})
export type SubagentShown = v.InferOutput<typeof subagent>

const figures = {
  session_id: text,
  seat_id: text,
  parent_seat_id: maybe(text),
  agent: text,
  agent_version: maybe(text),
  project: maybe(text),
  cwd: maybe(text),
  branch: maybe(text),
  model: maybe(text),
  state: v.picklist(['working', 'idle', 'waiting', 'compacting', 'ended', 'unknown']),
  used_tokens: maybe(count),
  window_tokens: maybe(count),
  compaction_tokens: maybe(count),
  compaction_mode: maybe(v.picklist(['proactive', 'reactive', 'off'])),
  used_percent: maybe(figure),
  compaction_percent: maybe(figure),
  remaining_percent: maybe(figure),
  source: maybe(v.picklist(SOURCES)),
  exact: v.boolean(),
  level: maybe(text),
  cycle: count,
  compactions: count,
  handoffs: count,
  updated_at: maybe(time),
  stale: v.boolean(),
  enabled: v.boolean(),
  last_handoff_path: maybe(text),
  transcript_path: maybe(text),
  spend,
} as const
figures satisfies { [Name in keyof Omit<Session, 'handoff'>]: v.GenericSchema<Session[Name]> }

/** A session as the page and other programs are told of it: `Session`, and what a row of it needs beside. */
export const sessionRow = v.object({
  ...figures,
  /** What people call its seat; null: it has no name. */
  seat_name: maybe(text),
  /** The job it belongs to; null: none. */
  job_id: maybe(text),
  started_at: time,
  ended_at: maybe(time),
  /** Our time of its last signal. */
  seen_at: time,
  /** Plain growth per step in this cycle; null: not known yet. */
  tokens_per_step: maybe(figure),
  /** Steps left to the compaction point at that growth; null: not known. */
  steps_left: maybe(count),
  handoff: maybe(handoff),
  subagents: v.array(subagent),
  withheld,
})
export type SessionRow = v.InferOutput<typeof sessionRow>

export const levelShown = v.object({ name: text, at_tokens: maybe(count), crossed_at: maybe(time), reachable: v.boolean() })

/** What one compaction dropped. */
export const loss = v.object({
  compaction_started_at: time,
  trigger: text,
  archive_id: maybe(text),
  facts: count,
  facts_kept: count,
  by_kind: v.record(text, v.object({ total: count, kept: count })),
  /** Most needed first. */
  lost: v.array(v.object({ kind: text, text, state: maybe(text), line: count })),
  put_back: count,
  withheld,
})
export type LossShown = v.InferOutput<typeof loss>

/** One link of a seat's chain of sessions. */
export const link = v.object({
  session_id: text,
  started_at: time,
  ended_at: maybe(time),
  compactions: count,
  handoffs: count,
  used_tokens: maybe(count),
})

export const sessionDetail = v.object({
  ...sessionRow.entries,
  cycle_started_at: time,
  cycle_reason: text,
  limits_reason: text,
  plan_limits: maybe(v.array(v.looseObject({ name: text }))),
  config_trouble: maybe(text),
  levels: v.array(levelShown),
  chain: v.array(link),
  briefs: v.array(brief),
  archives: v.array(archive),
  losses: v.array(loss),
})
export type SessionDetail = v.InferOutput<typeof sessionDetail>

export const reading = v.object({
  at: time,
  cycle: count,
  used_tokens: count,
  window_tokens: maybe(count),
  compaction_tokens: maybe(count),
  model: maybe(text),
  source: v.picklist(SOURCES),
  exact: v.boolean(),
})
export const readings = v.object({ session_id: text, readings: v.array(reading) })

/** The same as columns, for curves of many thousands of readings. `at`: milliseconds. One row a reading, all arrays of one length. */
export const readingColumns = v.object({
  session_id: text,
  at: v.array(figure),
  used_tokens: v.array(count),
  cycle: v.array(count),
  window_tokens: v.array(maybe(count)),
  compaction_tokens: v.array(maybe(count)),
})
export type ReadingColumns = v.InferOutput<typeof readingColumns>

export const forecast = v.object({
  session_id: text,
  tokens_per_step: maybe(figure),
  /** In the order they are reached; the last is named `compaction`. null: not known. */
  levels: v.array(
    v.object({
      name: text,
      at_tokens: maybe(count),
      steps: maybe(count),
      low: maybe(count),
      high: maybe(count),
      minutes: maybe(figure),
    }),
  ),
})
export type Forecast = v.InferOutput<typeof forecast>

export const message = v.object({
  message_id: text,
  seat_id: text,
  session_id: maybe(text),
  sender: text,
  category: text,
  mode: v.picklist(MODES),
  text: maybe(text),
  status: v.picklist(['queued', 'sent', 'delivered', 'cancelled']),
  queued_at: time,
  delivered_at: maybe(time),
  via: maybe(text),
  repeated: v.boolean(),
})
export type MessageShown = v.InferOutput<typeof message>

export const newMessage = v.strictObject({
  text: v.pipe(text, v.trim(), v.minLength(1), v.maxLength(100_000)),
  mode: v.optional(v.picklist(MODES), 'sequential'),
})
export const handoffRequest = v.strictObject({ reason: v.optional(maybe(v.pipe(text, v.maxLength(2_000))), null) })
export const enabledWish = v.strictObject({ enabled: v.boolean() })
