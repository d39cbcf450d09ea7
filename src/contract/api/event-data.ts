import * as v from 'valibot'
import type { Event, EventType } from '../records/event.js'
import { count, figure, maybe, text, time } from './shapes.js'

const flag = v.boolean()
/** Only after `baton archive forget`: the event's conversation text is gone. */
const forgotten = v.optional(flag)

/** Both percentages are of the compaction point and add up to 100; null while the point is not known. */
const percentages = { contextUsedPercent: maybe(figure), contextRemainingPercent: maybe(figure) }

const handoffFields = {
  /** Null outside a job. */
  agentName: maybe(text),
  /** Null outside a job. */
  jobId: maybe(text),
  oldSessionId: text,
  /** Null until the fresh session has started. */
  newSessionId: maybe(text),
  /** 0 to 1, of the window. */
  usagePercent: maybe(figure),
  inputTokens: maybe(count),
  contextWindow: maybe(count),
  handoffNumber: count,
  /** Only where a copy of the session was to write the brief: how that ended. */
  fork: v.optional(text),
}

const handoffIds = {
  /** Absent in a job, whose handoffs have no id. */
  handoff_id: v.optional(text),
}

/** `mod`: inside the client. `tmux`: typed into its terminal. `start`: by the user's own clear or start. */
const way = v.optional(maybe(v.picklist(['mod', 'tmux', 'start'])))

const jobEnd = v.looseObject({ exit_reason: maybe(text), detail: text, handoffs: count })

const checkPlace = { round: count, rounds: count, of: count }

/**
 * The `data` of each type of event. Keys may be added later, so the objects are open. The events that
 * older programs know (`context_warning`, `compaction_*`, `handoff_started`, `handoff_completed`)
 * have their camelCase names.
 */
export const EVENT_DATA = {
  session_started: v.looseObject({ source: text, cwd: maybe(text), model: maybe(text) }),
  /** `reason`: the client's word; `gone` when its process ended without one. */
  session_ended: v.looseObject({ reason: maybe(text) }),
  reading: v.looseObject({
    used_tokens: count,
    window_tokens: maybe(count),
    compaction_tokens: maybe(count),
    used_percent: maybe(figure),
    compaction_percent: maybe(figure),
    model: maybe(text),
    source: text,
    exact: flag,
    cycle: count,
  }),
  cycle_started: v.looseObject({
    cycle: count,
    reason: v.picklist(['start', 'resume', 'compaction', 'clear', 'handoff', 'enabled']),
  }),
  level_crossed: v.looseObject({
    level: text,
    at_tokens: maybe(count),
    used_tokens: maybe(count),
    compaction_percent: maybe(figure),
    /** Absent for a level of the job's own agent. */
    cycle: v.optional(count),
    /** Only for a level of the job's own agent, with `of_job`. */
    actions: v.optional(v.array(text)),
    of_job: v.optional(flag),
  }),
  context_warning: v.looseObject({
    ...percentages,
    /** Of the answer itself; null while only the sum is known. */
    inputTokens: maybe(count),
    cacheTokens: maybe(count),
    contextWindow: maybe(count),
    compactionTokens: maybe(count),
    usedTokens: maybe(count),
    level: text,
    levels: v.array(text),
    /** Null where nobody was told. */
    messageId: maybe(text),
    of_job: v.optional(flag),
  }),
  compaction_start: v.looseObject({
    triggerReason: v.picklist(['threshold_exceeded', 'manual']),
    ...percentages,
    compactionTokens: maybe(count),
    /** Only where the client compacted between turns, by itself. */
    idle: v.optional(flag),
  }),
  compaction_complete: v.looseObject({
    outcome: v.picklist(['completed', 'failed', 'blocked', 'thrashing', 'unknown']),
    triggerReason: v.picklist(['threshold_exceeded', 'manual']),
    /** Only after the model refused the conversation as too long. */
    overflow: v.optional(flag),
    /** Only where the client compacted between turns, by itself. */
    idle: v.optional(flag),
    /** Null while it is not known, and after it was forgotten. */
    summary: maybe(text),
    forgotten,
    tokensBefore: maybe(count),
    tokensAfter: maybe(count),
    tokensSaved: maybe(figure),
    durationMs: maybe(figure),
    compactionTokens: maybe(count),
  }),
  archive_created: v.looseObject({
    archive_id: text,
    trigger: text,
    created_at: time,
    bytes: count,
    stored_bytes: count,
    sha256: text,
    path: text,
    subagents: count,
  }),
  loss_report: v.looseObject({
    compaction_started_at: time,
    archive_id: maybe(text),
    facts: count,
    facts_kept: count,
    by_kind: v.record(text, v.object({ total: count, kept: count })),
    /** The most needed first; `lost_more` says how many are left out. Empty after they were forgotten. */
    lost: v.array(v.object({ kind: text, text, state: maybe(text), line: count })),
    lost_more: count,
    forgotten,
  }),
  recovery_delivered: v.looseObject({
    message_id: text,
    compaction_started_at: time,
    /** 1: the facts every session needs. 2: those the summary lost. */
    step: v.picklist([1, 2]),
    facts: count,
  }),
  handoff_requested: v.looseObject({
    handoff_id: text,
    cause: text,
    level: maybe(text),
    reason: maybe(text),
    number: count,
    forgotten,
  }),
  handoff_started: v.looseObject({ ...handoffIds, ...handoffFields, brief_id: v.optional(text), way }),
  handoff_completed: v.looseObject({
    ...handoffIds,
    ...handoffFields,
    brief_id: maybe(text),
    way,
    /** Only in a job: how much of what happened the brief covers, 0 to 1. */
    coverage: v.optional(maybe(figure)),
  }),
  handoff_failed: v.looseObject({ ...handoffIds, ...handoffFields, reason: maybe(text), forgotten }),
  handoff_cancelled: v.looseObject({ ...handoffIds, ...handoffFields, reason: maybe(text), forgotten }),
  message_queued: v.looseObject({
    message_id: text,
    to: text,
    category: text,
    mode: v.picklist(['sequential', 'important', 'urgent']),
    /** Absent where Baton itself is the sender. */
    sender: v.optional(text),
  }),
  message_delivered: v.looseObject({ message_id: text, via: maybe(text), repeated: flag }),
  message_cancelled: v.looseObject({ message_id: text, reason: maybe(text), sender: v.optional(text), forgotten }),
  job_started: v.looseObject({}),
  /** The session that a job began with, where it might have continued one. */
  job_session: v.looseObject({
    how: v.picklist(['continued', 'brief', 'fresh']),
    reason: text,
    previous_session_id: text,
    brief_id: maybe(text),
  }),
  job_progress: v.looseObject({
    handoffs: count,
    max_handoffs: count,
    total_steps: count,
    spent_tokens: count,
    /** Number of the session in the job, from 1. */
    session: count,
    steps: count,
    used_tokens: maybe(count),
    window_tokens: maybe(count),
    compaction_tokens: maybe(count),
    /** Null until the client has told what every session cost. */
    cost_usd: maybe(figure),
    /** After a measured step: where this session is handed off, and its growth per step. */
    full_at: v.optional(maybe(figure)),
    tokens_per_step: v.optional(maybe(figure)),
    /** While the client waits for the model: why, which attempt, how long. */
    waiting: v.optional(text),
    attempt: v.optional(maybe(figure)),
    delay_ms: v.optional(maybe(figure)),
    /** Background tasks that still run after the turn. */
    background: v.optional(count),
  }),
  /** `until` null: for a free place. */
  job_waiting: v.looseObject({ until: maybe(time), reason: maybe(text) }),
  job_paused: jobEnd,
  job_resumed: v.looseObject({}),
  job_completed: jobEnd,
  job_failed: jobEnd,
  job_cancelled: jobEnd,
  check_started: v.looseObject({ ...checkPlace, number: count, name: text, command: text }),
  check_completed: v.looseObject({
    ...checkPlace,
    number: count,
    name: text,
    command: text,
    ok: flag,
    exit_code: maybe(figure),
    timed_out: flag,
    duration_ms: figure,
    output_path: maybe(text),
  }),
  checks_completed: v.looseObject({
    ...checkPlace,
    passed: count,
    failed: count,
    /** `agent`: the failures go back to the agent. */
    next: v.picklist(['completed', 'failed', 'agent']),
  }),
  guard_tripped: v.looseObject({ guard: text, reason: text, level: maybe(text) }),
  silence_alarm: v.looseObject({ tool_calls: count, minutes: figure, since: time }),
} as const

/** The `data` of an event by its type. */
export type EventData = { [Type in keyof typeof EVENT_DATA]: v.InferOutput<(typeof EVENT_DATA)[Type]> }

/** An event whose `type` tells the shape of its `data`. Programs get this one; the store keeps any data. */
export type TypedEvent = { [Type in EventType]: EventOf<Type> }[EventType]
export type EventOf<Type extends EventType> = Omit<Event, 'type' | 'data'> & { type: Type; data: EventData[Type] }

/** The fields that every event of a handoff has. */
export type HandoffFields = v.InferOutput<v.ObjectSchema<typeof handoffFields, undefined>>

const eventOf = <Type extends keyof EventData>(type: Type) =>
  v.object({
    id: v.pipe(v.number(), v.integer()),
    type: v.literal(type),
    at: time,
    session_id: maybe(text),
    seat_id: maybe(text),
    job_id: maybe(text),
    data: EVENT_DATA[type],
  })

/** One event, by its type. */
export const event = v.variant(
  'type',
  Object.keys(EVENT_DATA).map((type) => eventOf(type as keyof EventData)),
)

/**
 * True for an event of Baton, from the stream, `/api/events`, `baton events --json` or a job's output,
 * whose data has the shape of this version; with `type`, only for events of that type.
 */
export function isEvent<Type extends EventType = EventType>(
  value: unknown,
  type?: Type,
): value is Extract<TypedEvent, { type: Type }> {
  return v.is(event, value) && (type === undefined || value.type === type)
}
