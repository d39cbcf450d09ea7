import * as v from 'valibot'
import { SOURCES } from '../reading.js'
import { HANDOFF_STATES } from '../records/handoff.js'
import { archive, forgotten } from './archives.js'
import { brief } from './briefs.js'
import { flag, limit, type Routes } from './route.js'
import type { Session } from './session.js'
import { count, figure, maybe, spend, text, time } from './shapes.js'

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
  /** What keeps the client from being cleared: turn, dialog, draft, background, subagent; null: nothing, or it is not told. */
  hindered_by: maybe(text),
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
  title: maybe(text),
  state: v.picklist(['working', 'idle', 'waiting', 'compacting', 'ended', 'unknown']),
  used_tokens: maybe(count),
  window_tokens: maybe(count),
  compaction_tokens: maybe(count),
  compaction_mode: maybe(v.picklist(['proactive', 'reactive', 'off'])),
  /** Where the first level asks for a handoff; null when none does or its place is not known. */
  handoff_tokens: maybe(count),
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

export const levelShown = v.object({
  name: text,
  at_tokens: maybe(count),
  crossed_at: maybe(time),
  reachable: v.boolean(),
})

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
  /** In the order they are reached: the ticks of its gauge. */
  levels: v.array(levelShown),
})
export type SessionRow = v.InferOutput<typeof sessionRow>

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
  plan_limits: maybe(v.array(v.object({ name: text, usedPercent: figure, resetsAt: maybe(text) }))),
  config_trouble: maybe(text),
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

export const handoffRequest = v.strictObject({ reason: v.optional(maybe(v.pipe(text, v.maxLength(2_000))), null) })
export const enabledWish = v.strictObject({ enabled: v.boolean() })

/** Routes of sessions and their handoffs. */
export const sessionRoutes = {
  sessions: {
    method: 'get',
    path: '/api/sessions',
    summary: 'Live sessions and those of the last 24 hours: waiting, working, idle, ended; newest first within each',
    query: { all: flag },
    reply: v.object({ sessions: v.array(sessionRow) }),
  },
  session: {
    method: 'get',
    path: '/api/sessions/{id}',
    summary: 'One session, or the one in a seat',
    reply: sessionDetail,
    refusals: [404],
  },
  readings: {
    method: 'get',
    path: '/api/sessions/{id}/readings',
    summary: 'Its climb over time',
    query: { limit: limit(100_000) },
    reply: readings,
    refusals: [404],
  },
  curve: {
    method: 'get',
    path: '/api/sessions/{id}/curve',
    summary: 'Its climb as columns, for drawing',
    query: { limit: limit(100_000) },
    reply: readingColumns,
    refusals: [404],
  },
  forecast: {
    method: 'get',
    path: '/api/sessions/{id}/forecast',
    summary: 'Steps to each level and to compaction, at plain growth',
    reply: forecast,
    refusals: [404],
  },
  handOff: {
    method: 'post',
    path: '/api/sessions/{id}/handoff',
    summary: 'Ask its agent for a brief and hand the work over',
    body: handoffRequest,
    reply: handoff,
    refusals: [404, 409],
  },
  cancelHandoff: {
    method: 'delete',
    path: '/api/sessions/{id}/handoff',
    summary: 'Call off the handoff under way',
    reply: handoff,
    refusals: [404, 409],
  },
  switchSession: {
    method: 'put',
    path: '/api/sessions/{id}/enabled',
    summary: 'Silence Baton for a session, or wake it',
    body: enabledWish,
    reply: enabledWish,
    refusals: [404],
  },
  forget: {
    method: 'post',
    path: '/api/sessions/{id}/forget',
    summary: 'Forget its archives, briefs and words for good',
    reply: forgotten,
    refusals: [404, 409],
  },
} as const satisfies Routes

/** The report of an older context monitor. Unknown keys are ignored. */
export const contextReport = v.looseObject({
  /** A session's id or a seat's id or name. */
  session_id: text,
  /** `compaction`: the client has compacted; no figures are read then. */
  event: v.optional(text),
  total_input_tokens: v.optional(maybe(count)),
  used_percentage: v.optional(maybe(figure)),
  context_window_size: v.optional(maybe(count)),
  /** The producer's own clock, ISO 8601 or a number; reports that are older than the last one change nothing. */
  timestamp: v.optional(v.union([text, figure])),
})

export const contextReportReply = v.object({
  status: v.picklist(['ok', 'unknown_session', 'compaction_logged', 'no_usage']),
  /** Only with `ok`. */
  used_percentage: v.optional(maybe(figure)),
})

/** A session with the names that older context monitors read. */
export const monitoredSession = v.object({
  ...v.omit(sessionRow, [
    'seat_name',
    'job_id',
    'started_at',
    'ended_at',
    'seen_at',
    'tokens_per_step',
    'steps_left',
    'handoff',
    'subagents',
    'levels',
  ]).entries,
  id: text,
  /** The seat's id. */
  name: text,
  friendly_name: text,
  tokens_used: maybe(count),
  /** The parent seat's id. */
  parent_session_id: maybe(text),
  working_dir: maybe(text),
  status: text,
})
