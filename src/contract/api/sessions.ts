import * as v from 'valibot'
import { READING_SOURCES } from '../reading.js'
import { HANDOFF_STATES } from '../records/handoff.js'
import { archive, forgetResult } from './archives.js'
import { brief } from './briefs.js'
import { flag, limit, type Routes } from './route.js'
import type { Session } from './session-view.js'
import { count, nullable, number, spend, text, time } from './shapes.js'

/**
 * A handoff, as every command and route shows it. Fields are explained at the type `HandoffRecord`.
 */
export const handoff = v.object({
  handoff_id: text,
  seat_id: text,
  session_id: text,
  state: v.picklist(HANDOFF_STATES),
  state_at: time,
  due_at: nullable(time),
  cause: text,
  level: nullable(text),
  reason: nullable(text),
  requested_at: time,
  brief_id: nullable(text),
  way: nullable(text),
  new_session_id: nullable(text),
  number: count,
  trouble: nullable(text),
  /**
   * Why the client cannot be cleared yet: turn, dialog, draft, background or subagent.
   * Null when nothing prevents the clear, or the reason is unknown.
   */
  hindered_by: nullable(text),
})
export type HandoffView = v.InferOutput<typeof handoff>

/** A subagent of a session, measured separately from it. */
export const subagent = v.object({
  subagent_id: text,
  type: nullable(text),
  /** The task that the subagent was given. */
  description: nullable(text),
  model: nullable(text),
  used_tokens: nullable(count),
  window_tokens: nullable(count),
  used_percent: nullable(number),
  exact: v.boolean(),
  updated_at: time,
  spend,
})
export type SubagentView = v.InferOutput<typeof subagent>

/** The fields of `Session` as schemas. The check below fails to compile when one is missing. */
const sessionFields = {
  session_id: text,
  seat_id: text,
  parent_seat_id: nullable(text),
  agent: text,
  agent_version: nullable(text),
  project: nullable(text),
  cwd: nullable(text),
  branch: nullable(text),
  model: nullable(text),
  title: nullable(text),
  state: v.picklist(['working', 'idle', 'waiting', 'compacting', 'ended', 'unknown']),
  used_tokens: nullable(count),
  window_tokens: nullable(count),
  compaction_tokens: nullable(count),
  compaction_mode: nullable(v.picklist(['proactive', 'reactive', 'off'])),
  /**
   * Tokens at which the first level (warning threshold) asks for a handoff.
   * Null when no level asks for one or its place is unknown.
   */
  handoff_tokens: nullable(count),
  used_percent: nullable(number),
  compaction_percent: nullable(number),
  remaining_percent: nullable(number),
  source: nullable(v.picklist(READING_SOURCES)),
  exact: v.boolean(),
  level: nullable(text),
  cycle: count,
  compactions: count,
  handoffs: count,
  updated_at: nullable(time),
  stale: v.boolean(),
  enabled: v.boolean(),
  last_handoff_path: nullable(text),
  transcript_path: nullable(text),
  spend,
} as const
sessionFields satisfies { [Name in keyof Omit<Session, 'handoff'>]: v.GenericSchema<Session[Name]> }

/** A level (warning threshold) of one session, as a tick of its gauge. */
const levelView = v.object({
  name: text,
  at_tokens: nullable(count),
  crossed_at: nullable(time),
  reachable: v.boolean(),
})
export type LevelView = v.InferOutput<typeof levelView>

/** A session in a list: `Session` and everything else that a table row shows. */
export const sessionRow = v.object({
  ...sessionFields,
  /** Name of the seat (terminal or job). Null when it has none. */
  seat_name: nullable(text),
  /** The job that runs this session. Null when none does. */
  job_id: nullable(text),
  started_at: time,
  ended_at: nullable(time),
  /** Time of the session's last signal, by Baton's clock. */
  seen_at: time,
  /** Average token growth per step in this cycle. Null while unknown. */
  tokens_per_step: nullable(number),
  /** Steps until compaction at the average growth. Null while unknown. */
  steps_left: nullable(count),
  handoff: nullable(handoff),
  subagents: v.array(subagent),
  /** Levels in the order they are reached. */
  levels: v.array(levelView),
})
export type SessionRow = v.InferOutput<typeof sessionRow>

/** Facts that one compaction dropped. */
export const loss = v.object({
  compaction_started_at: time,
  trigger: text,
  archive_id: nullable(text),
  facts: count,
  facts_kept: count,
  by_kind: v.record(text, v.object({ total: count, kept: count })),
  /** Lost facts, most needed first. */
  lost: v.array(v.object({ kind: text, text, state: nullable(text), line: count })),
  /** Number of lost facts that Baton gave back to the agent. */
  put_back: count,
})
export type LossView = v.InferOutput<typeof loss>

/** A session in the chain of sessions of a seat (terminal or job). */
const chainLink = v.object({
  session_id: text,
  started_at: time,
  ended_at: nullable(time),
  compactions: count,
  handoffs: count,
  used_tokens: nullable(count),
})

/** A session with its history, for the page of one session. */
const sessionDetail = v.object({
  ...sessionRow.entries,
  cycle_started_at: time,
  cycle_reason: text,
  limits_reason: text,
  plan_limits: nullable(v.array(v.object({ name: text, usedPercent: number, resetsAt: nullable(text) }))),
  config_trouble: nullable(text),
  chain: v.array(chainLink),
  briefs: v.array(brief),
  archives: v.array(archive),
  losses: v.array(loss),
})
export type SessionDetail = v.InferOutput<typeof sessionDetail>

/** A stored measurement of a session's context. */
export const reading = v.object({
  at: time,
  cycle: count,
  used_tokens: count,
  window_tokens: nullable(count),
  compaction_tokens: nullable(count),
  model: nullable(text),
  source: v.picklist(READING_SOURCES),
  exact: v.boolean(),
})
export const readings = v.object({ session_id: text, readings: v.array(reading) })

/**
 * Readings as columns, because a curve may have many thousands.
 * Arrays have equal lengths; index i is one reading. `at` is in milliseconds since 1970.
 */
const readingColumns = v.object({
  session_id: text,
  at: v.array(number),
  used_tokens: v.array(count),
  cycle: v.array(count),
  window_tokens: v.array(nullable(count)),
  compaction_tokens: v.array(nullable(count)),
})
export type ReadingColumns = v.InferOutput<typeof readingColumns>

/** Steps and minutes until each level (warning threshold), at the token growth of this cycle. */
export const forecast = v.object({
  session_id: text,
  tokens_per_step: nullable(number),
  /**
   * Levels in the order they are reached; the last is named `compaction`. Unknown numbers are null.
   */
  levels: v.array(
    v.object({
      name: text,
      at_tokens: nullable(count),
      steps: nullable(count),
      low: nullable(count),
      high: nullable(count),
      minutes: nullable(number),
    }),
  ),
})
export type Forecast = v.InferOutput<typeof forecast>

/** Body of a request for a handoff. `reason` is passed to the agent. */
const handoffRequest = v.strictObject({ reason: v.optional(nullable(v.pipe(text, v.maxLength(2_000))), null) })
/** Switches Baton on or off for one session. */
const enabledSwitch = v.strictObject({ enabled: v.boolean() })

const seatNaming = v.strictObject({ name: text })
const namedSeat = v.object({
  seat_id: text,
  name: text,
  /** Null when the seat had no name. */
  former_name: nullable(text),
})

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
    summary: 'One session, by its id or its seat',
    reply: sessionDetail,
    refusals: [404],
  },
  readings: {
    method: 'get',
    path: '/api/sessions/{id}/readings',
    summary: 'Readings of a session over time',
    query: { limit: limit(100_000) },
    reply: readings,
    refusals: [404],
  },
  curve: {
    method: 'get',
    path: '/api/sessions/{id}/curve',
    summary: 'Readings of a session as columns, for charts',
    query: { limit: limit(100_000) },
    reply: readingColumns,
    refusals: [404],
  },
  forecast: {
    method: 'get',
    path: '/api/sessions/{id}/forecast',
    summary: 'Expected steps to each level and to compaction',
    reply: forecast,
    refusals: [404],
  },
  handOff: {
    method: 'post',
    path: '/api/sessions/{id}/handoff',
    summary: 'Request a brief and hand the session over',
    body: handoffRequest,
    reply: handoff,
    refusals: [404, 409],
  },
  cancelHandoff: {
    method: 'delete',
    path: '/api/sessions/{id}/handoff',
    summary: 'Cancel the handoff in progress',
    reply: handoff,
    refusals: [404, 409],
  },
  switchSession: {
    method: 'put',
    path: '/api/sessions/{id}/enabled',
    summary: 'Turn Baton off or on for a session',
    body: enabledSwitch,
    reply: enabledSwitch,
    refusals: [404],
  },
  nameSeat: {
    method: 'put',
    path: '/api/sessions/{id}/name',
    summary: 'Name or rename the seat of a session',
    body: seatNaming,
    reply: namedSeat,
    refusals: [404, 409],
  },
  forget: {
    method: 'post',
    path: '/api/sessions/{id}/forget',
    summary: 'Delete the archives, briefs and texts of a session permanently',
    reply: forgetResult,
    refusals: [404, 409],
  },
} as const satisfies Routes

/** Report of an older context monitor. Unknown keys are ignored. */
export const contextReport = v.looseObject({
  /** Id of a session, or id or name of a seat (terminal or job). */
  session_id: text,
  /** `compaction`: the client has compacted. The numbers in such a report are ignored. */
  event: v.optional(text),
  total_input_tokens: v.optional(nullable(count)),
  used_percentage: v.optional(nullable(number)),
  context_window_size: v.optional(nullable(count)),
  /**
   * The producer's own clock, ISO 8601 or a number.
   * A report with an earlier time than the last report is ignored.
   */
  timestamp: v.optional(v.union([text, number])),
})

/** Answer to the report of an older context monitor. */
export const contextReportReply = v.object({
  status: v.picklist(['ok', 'unknown_session', 'compaction_logged', 'no_usage']),
  /** Percentage of the window in use. Present only with `ok`. */
  used_percentage: v.optional(nullable(number)),
})

/** A session with the field names that older context monitors read. */
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
  /** Id of the seat. */
  name: text,
  friendly_name: text,
  tokens_used: nullable(count),
  /** Id of the parent seat. */
  parent_session_id: nullable(text),
  working_dir: nullable(text),
  status: text,
})
