import * as v from 'valibot'
import type { Event, EventType } from '../records/event.js'
import { count, nullable, number, text, time } from './shapes.js'

const flag = v.boolean()
/** True after `baton archive forget` deleted the event's conversation text. Absent otherwise. */
const forgotten = v.optional(flag)

/**
 * Percentages of the way to the compaction point. They add up to 100. Null while that is unknown.
 */
const percentages = { contextUsedPercent: nullable(number), contextRemainingPercent: nullable(number) }

const handoffFields = {
  /** Name of the job's agent in `baton.yaml`. Null outside a job. */
  agentName: nullable(text),
  /** Null when the handoff does not belong to a job. */
  jobId: nullable(text),
  oldSessionId: text,
  /** Null until the fresh session has started. */
  newSessionId: nullable(text),
  /** Share of the context window in use, 0 to 1. Null while the window is unknown. */
  usagePercent: nullable(number),
  inputTokens: nullable(count),
  contextWindow: nullable(count),
  handoffNumber: count,
  /**
   * Result of the fork, a copy of the session that writes the brief.
   * Absent when no fork was wanted.
   */
  fork: v.optional(text),
}

const handoffIds = {
  /** Absent in a job, whose handoffs have no id. */
  handoff_id: v.optional(text),
}

/** How the fresh session was begun. The values are explained at `HandoffWay`. */
const way = v.optional(nullable(v.picklist(['mod', 'tmux', 'start'])))

const jobEnd = v.looseObject({ exit_reason: nullable(text), detail: text, handoffs: count })

/** `round`: the round of checks, counted from 1. `of`: number of checks in this round. */
const checkPlace = { round: count, rounds: count, of: count }

/**
 * The `data` of each type of event. Keys may be added later, so the objects are open.
 * Some events have camelCase keys because older programs read these names:
 * `context_warning`, `compaction_*`, `handoff_started` and `handoff_completed`.
 */
export const EVENT_DATA = {
  session_started: v.looseObject({ source: text, cwd: nullable(text), model: nullable(text) }),
  /** `reason`: the client's own text, or `gone` when its process ended without giving one. */
  session_ended: v.looseObject({ reason: nullable(text) }),
  reading: v.looseObject({
    used_tokens: count,
    window_tokens: nullable(count),
    compaction_tokens: nullable(count),
    used_percent: nullable(number),
    compaction_percent: nullable(number),
    model: nullable(text),
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
    at_tokens: nullable(count),
    used_tokens: nullable(count),
    compaction_percent: nullable(number),
    /** Absent for a level that the job's own agent defines. */
    cycle: v.optional(count),
    /** Present only for a level that the job's own agent defines, together with `of_job`. */
    actions: v.optional(v.array(text)),
    of_job: v.optional(flag),
  }),
  context_warning: v.looseObject({
    ...percentages,
    /**
     * Token counts of the model's answer itself, whichever source measured it.
     * Null while only the sum of input and cache tokens is known.
     */
    inputTokens: nullable(count),
    cacheTokens: nullable(count),
    contextWindow: nullable(count),
    compactionTokens: nullable(count),
    usedTokens: nullable(count),
    level: text,
    levels: v.array(text),
    /** The message that contained the warning. Null when no message was sent. */
    messageId: nullable(text),
    of_job: v.optional(flag),
  }),
  compaction_start: v.looseObject({
    triggerReason: v.picklist(['threshold_exceeded', 'manual']),
    ...percentages,
    compactionTokens: nullable(count),
    /** True when the client compacted by itself between turns. Absent otherwise. */
    idle: v.optional(flag),
  }),
  compaction_complete: v.looseObject({
    outcome: v.picklist(['completed', 'failed', 'blocked', 'thrashing', 'unknown']),
    triggerReason: v.picklist(['threshold_exceeded', 'manual']),
    /** True when the model had refused the conversation as too long. Absent otherwise. */
    overflow: v.optional(flag),
    /** True when the client compacted by itself between turns. Absent otherwise. */
    idle: v.optional(flag),
    /** Null while the summary is unknown, and after it was forgotten. */
    summary: nullable(text),
    forgotten,
    tokensBefore: nullable(count),
    tokensAfter: nullable(count),
    tokensSaved: nullable(number),
    durationMs: nullable(number),
    compactionTokens: nullable(count),
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
    archive_id: nullable(text),
    facts: count,
    facts_kept: count,
    by_kind: v.record(text, v.object({ total: count, kept: count })),
    /**
     * Lost facts, most needed first. `lost_more` counts facts that are not listed.
     * The list of lost facts is empty after the facts were forgotten.
     */
    lost: v.array(v.object({ kind: text, text, state: nullable(text), line: count })),
    lost_more: count,
    forgotten,
  }),
  recovery_delivered: v.looseObject({
    message_id: text,
    compaction_started_at: time,
    /** Step 1 restores facts that every session needs, step 2 facts that the summary lost. */
    step: v.picklist([1, 2]),
    facts: count,
  }),
  handoff_requested: v.looseObject({
    handoff_id: text,
    cause: text,
    level: nullable(text),
    reason: nullable(text),
    number: count,
    forgotten,
  }),
  handoff_started: v.looseObject({ ...handoffIds, ...handoffFields, brief_id: v.optional(text), way }),
  handoff_completed: v.looseObject({
    ...handoffIds,
    ...handoffFields,
    brief_id: nullable(text),
    way,
    /** Share of the session's facts that the brief covers, 0 to 1. Absent outside a job. */
    coverage: v.optional(nullable(number)),
  }),
  handoff_failed: v.looseObject({ ...handoffIds, ...handoffFields, reason: nullable(text), forgotten }),
  handoff_cancelled: v.looseObject({ ...handoffIds, ...handoffFields, reason: nullable(text), forgotten }),
  message_queued: v.looseObject({
    message_id: text,
    to: text,
    category: text,
    mode: v.picklist(['sequential', 'important', 'urgent']),
    /** Absent when Baton itself is the sender. */
    sender: v.optional(text),
  }),
  message_delivered: v.looseObject({ message_id: text, via: nullable(text), repeated: flag }),
  message_cancelled: v.looseObject({ message_id: text, reason: nullable(text), sender: v.optional(text), forgotten }),
  job_started: v.looseObject({}),
  /**
   * Emitted when a job could have continued an earlier session.
   * `how` says what the job did instead.
   */
  job_session: v.looseObject({
    how: v.picklist(['continued', 'brief', 'fresh']),
    reason: text,
    previous_session_id: text,
    brief_id: nullable(text),
  }),
  job_progress: v.looseObject({
    handoffs: count,
    max_handoffs: count,
    total_steps: count,
    spent_tokens: count,
    /** Number of the session in the job, counted from 1. */
    session: count,
    steps: count,
    used_tokens: nullable(count),
    window_tokens: nullable(count),
    compaction_tokens: nullable(count),
    /** Null until the client has reported the cost of every session. */
    cost_usd: nullable(number),
    /**
     * Tokens at which this session hands off, and its token growth per step.
     * Absent before the first step.
     */
    full_at: v.optional(nullable(number)),
    tokens_per_step: v.optional(nullable(number)),
    /**
     * Why the client waits for the model, in which attempt and for how long.
     * Absent while the client does not wait.
     */
    waiting: v.optional(text),
    attempt: v.optional(nullable(number)),
    delay_ms: v.optional(nullable(number)),
    /** Background tasks that still run after the turn. */
    background: v.optional(count),
  }),
  /** `until` is null when the job waits for a free slot. */
  job_waiting: v.looseObject({ until: nullable(time), reason: nullable(text) }),
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
    exit_code: nullable(number),
    timed_out: flag,
    duration_ms: number,
    output_path: nullable(text),
  }),
  checks_completed: v.looseObject({
    ...checkPlace,
    passed: count,
    failed: count,
    /** `agent`: the failures are sent back to the agent. */
    next: v.picklist(['completed', 'failed', 'agent']),
  }),
  guard_tripped: v.looseObject({ guard: text, reason: text, level: nullable(text) }),
  silence_alarm: v.looseObject({ tool_calls: count, minutes: number, since: time }),
} as const

/** The `data` of an event by its type. */
export type EventData = { [Type in keyof typeof EVENT_DATA]: v.InferOutput<(typeof EVENT_DATA)[Type]> }

/**
 * An event whose `type` determines the shape of its `data`.
 * Programs receive this type; the store accepts any data.
 */
export type TypedEvent = { [Type in EventType]: EventOf<Type> }[EventType]
/** An event of one given type. */
type EventOf<Type extends EventType> = Omit<Event, 'type' | 'data'> & { type: Type; data: EventData[Type] }

/** The fields that every event of a handoff has. */
export type HandoffFields = v.InferOutput<v.ObjectSchema<typeof handoffFields, undefined>>

const eventOf = <Type extends keyof EventData>(type: Type) =>
  v.object({
    id: v.pipe(v.number(), v.integer()),
    type: v.literal(type),
    at: time,
    session_id: nullable(text),
    seat_id: nullable(text),
    job_id: nullable(text),
    data: EVENT_DATA[type],
  })

/** Schema of an event, selected by its type. */
export const event = v.variant(
  'type',
  Object.keys(EVENT_DATA).map((type) => eventOf(type as keyof EventData)),
)

/**
 * Returns true when a value is an event whose data has the shape of this version.
 * With `type`, only events of that type pass.
 * Accepts values from the stream, `/api/events`, `baton events --json` and the output of a job.
 */
export function isEvent<Type extends EventType = EventType>(
  value: unknown,
  type?: Type,
): value is Extract<TypedEvent, { type: Type }> {
  return v.is(event, value) && (type === undefined || value.type === type)
}
