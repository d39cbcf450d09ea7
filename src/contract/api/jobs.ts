import * as v from 'valibot'
import { EXIT_REASONS, JOB_STATES, RUNTIMES } from '../job.js'
import { count, figure, maybe, text, time, withheld } from './shapes.js'

export const attempt = v.object({
  session_id: text,
  number: count,
  start: v.picklist(['fresh', 'resume', 'brief']),
  state: text,
  brief_id: maybe(text),
  used_tokens: maybe(count),
  window_tokens: maybe(count),
  compaction_tokens: maybe(count),
  steps: count,
  compactions: count,
  cost_usd: maybe(figure),
  started_at: time,
  ended_at: maybe(time),
})

export const check = v.object({
  name: maybe(text),
  command: maybe(text),
  round: count,
  ok: v.boolean(),
  exit_code: maybe(v.number()),
  timed_out: v.boolean(),
  duration_ms: figure,
  output_path: text,
  withheld,
})

/** A job as `jobs list` has it. Words are null where they are withheld. */
export const job = v.looseObject({
  job_id: text,
  status: v.picklist(JOB_STATES),
  exit_reason: maybe(v.picklist(EXIT_REASONS)),
  detail: maybe(text),
  agent: maybe(text),
  work_item: maybe(text),
  prompt: maybe(text),
  model: maybe(text),
  runtime: v.picklist(RUNTIMES),
  seat_id: text,
  parent_seat_id: maybe(text),
  session_id: maybe(text),
  sessions: v.array(attempt),
  handoffs: count,
  max_handoffs: count,
  compactions: count,
  steps: count,
  spend: v.looseObject({ input_tokens: count, output_tokens: count, cost_usd: maybe(figure) }),
  checks: v.array(check),
  folder: text,
  worktree_path: maybe(text),
  branch_name: maybe(text),
  wait_until: maybe(time),
  created_at: time,
  started_at: maybe(time),
  ended_at: maybe(time),
  ran_ms: figure,
  runner: maybe(v.object({ pid: v.number(), alive: v.boolean() })),
  result: maybe(text),
  withheld,
})
export type JobShown = v.InferOutput<typeof job>

export const jobDetail = v.looseObject({
  ...job.entries,
  budgets: v.object({ usd: maybe(figure), tokens: maybe(figure), turns: maybe(figure), minutes: maybe(figure) }),
})
export type JobDetail = v.InferOutput<typeof jobDetail>

/** A part of what a job's clients said, line by line as `jobs logs` prints it, plain text. `next`: where to read on. */
export const jobLog = v.object({
  lines: v.array(v.object({ at: maybe(time), kind: v.picklist(['agent', 'call', 'result', 'baton', 'other']), text })),
  next: text,
  /** There is more right now. */
  more: v.boolean(),
})
export type JobLogPart = v.InferOutput<typeof jobLog>

export const newJob = v.strictObject({
  /** A folder Baton knows, as `/api/projects` names it. */
  project: text,
  /** The name of an agent in that project's `baton.yaml`. */
  agent: text,
  prompt: v.optional(maybe(v.pipe(text, v.maxLength(100_000))), null),
  work_item: v.optional(maybe(v.pipe(text, v.maxLength(200))), null),
})

/** Folders sessions ran in, newest first, and the agents their `baton.yaml` names. */
export const projects = v.object({
  projects: v.array(
    v.object({
      project: text,
      agents: v.array(v.object({ name: text, has_prompt: v.boolean(), model: maybe(text) })),
      /** Why its agents cannot be told; null: they can. */
      trouble: maybe(text),
    }),
  ),
})
export type Projects = v.InferOutput<typeof projects>
