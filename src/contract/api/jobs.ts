import * as v from 'valibot'
import { EXIT_REASONS, JOB_STATES, PERMISSION_MODES, RUNTIMES } from '../records/job.js'
import { flag, optionalText, type Routes } from './route.js'
import { count, nullable, number, spend, text, time } from './shapes.js'

/** A session of a job. The fields are explained at `AttemptRecord`. */
export const attempt = v.object({
  session_id: text,
  number: count,
  start: v.picklist(['fresh', 'resume', 'brief']),
  state: text,
  brief_id: nullable(text),
  used_tokens: nullable(count),
  window_tokens: nullable(count),
  compaction_tokens: nullable(count),
  steps: count,
  compactions: count,
  cost_usd: nullable(number),
  started_at: time,
  ended_at: nullable(time),
})

/** Result of one check of a job. The fields are explained at `CheckResult`. */
export const check = v.object({
  name: text,
  command: text,
  round: count,
  ok: v.boolean(),
  exit_code: nullable(v.number()),
  timed_out: v.boolean(),
  duration_ms: number,
  output_path: text,
})

/** A job in a list. The fields are explained at `JobRecord` and `JobSpec`. */
export const job = v.object({
  job_id: text,
  status: v.picklist(JOB_STATES),
  exit_reason: nullable(v.picklist(EXIT_REASONS)),
  detail: nullable(text),
  agent: nullable(text),
  work_item: nullable(text),
  prompt: text,
  /** Agent and work item, or else the prompt, shortened. Null when the job has neither. */
  title: nullable(text),
  model: nullable(text),
  runtime: v.picklist(RUNTIMES),
  seat_id: text,
  parent_seat_id: nullable(text),
  session_id: nullable(text),
  sessions: v.array(attempt),
  handoffs: count,
  max_handoffs: count,
  compactions: count,
  /** Answers of the model, over all sessions of the job. */
  steps: count,
  /** Permission mode. Null when the client's own setting applies. */
  permission_mode: nullable(text),
  /**
   * Tool calls that the permission mode denied.
   * `denied_edits` counts those calls that would change files.
   */
  denied_calls: count,
  denied_edits: count,
  spend,
  checks: v.array(check),
  folder: text,
  worktree_path: nullable(text),
  branch_name: nullable(text),
  wait_until: nullable(time),
  /** The failure that is being retried. Null when none is. */
  retry: nullable(v.object({ reason: text, attempt: count, max_attempts: nullable(count), at: time })),
  created_at: time,
  started_at: nullable(time),
  ended_at: nullable(time),
  ran_ms: number,
  runner: nullable(v.object({ pid: v.number(), alive: v.boolean() })),
  result: nullable(text),
})
export type JobView = v.InferOutput<typeof job>

/** A job with its configuration, for the page of one job. */
export const jobDetail = v.object({
  ...job.entries,
  /** Configured checks, in the order they run. */
  configured_checks: v.array(v.object({ name: text, command: text })),
  budgets: v.object({
    usd: nullable(number),
    tokens: nullable(number),
    turns: nullable(number),
    minutes: nullable(number),
  }),
  /** Path of the folder with the job's logs and check outputs. */
  files: text,
})
export type JobDetail = v.InferOutput<typeof jobDetail>

/**
 * A line of a job's log. `other`: text that the agent received. `ok` is false for a failed result.
 */
const jobLogLine = v.object({
  at: nullable(time),
  kind: v.picklist(['agent', 'call', 'result', 'baton', 'other']),
  text,
  ok: v.boolean(),
  /** Id that a call and its result share. Absent in other lines. */
  call_id: v.optional(text),
})
export type JobLogLine = v.InferOutput<typeof jobLogLine>

/**
 * A page of a job's log, as `jobs logs` prints it, with long texts shortened.
 * `next` is the cursor (position in the log) for `?after=`.
 */
export const jobLog = v.object({
  lines: v.array(jobLogLine),
  next: text,
  /** True when more lines are available now. */
  more: v.boolean(),
})
export type JobLogPart = v.InferOutput<typeof jobLog>

/** Body of a request that starts a job. */
export const newJob = v.strictObject({
  /** Path of a known folder, as `/api/projects` lists it. */
  project: text,
  /** Name of an agent in that project's `baton.yaml`. Null to run the prompt alone. */
  agent: v.optional(nullable(text), null),
  /** Permission mode. Null for the agent's setting, or else the client's own. */
  permission_mode: v.optional(nullable(v.picklist(PERMISSION_MODES)), null),
  prompt: v.optional(nullable(v.pipe(text, v.maxLength(100_000))), null),
  work_item: v.optional(nullable(v.pipe(text, v.maxLength(200))), null),
})

/** Folders in which sessions ran, newest first, with the agents that their `baton.yaml` defines. */
export const projects = v.object({
  projects: v.array(
    v.object({
      project: text,
      agents: v.array(
        v.object({
          name: text,
          has_prompt: v.boolean(),
          model: nullable(text),
          /** Permission mode. Null when the client's own setting applies. */
          permission_mode: nullable(text),
        }),
      ),
      /** Why the project's agents could not be read. Null when they could. */
      trouble: nullable(text),
    }),
  ),
})
export type Projects = v.InferOutput<typeof projects>

/** Routes of jobs, and of the folders where one can be started. */
export const jobRoutes = {
  jobs: {
    method: 'get',
    path: '/api/jobs',
    summary: 'Open jobs and those of the last week',
    query: { all: flag },
    reply: v.object({ jobs: v.array(job) }),
  },
  startJob: {
    method: 'post',
    path: '/api/jobs',
    summary: 'Start a job in a known project: a named agent, or a prompt alone',
    body: newJob,
    reply: job,
    refusals: [404, 409],
  },
  job: {
    method: 'get',
    path: '/api/jobs/{id}',
    summary: 'One job',
    reply: jobDetail,
    refusals: [404],
  },
  jobLog: {
    method: 'get',
    path: '/api/jobs/{id}/log',
    summary: 'The output of a job’s clients',
    query: { after: optionalText },
    reply: jobLog,
    refusals: [404],
  },
  cancelJob: {
    method: 'post',
    path: '/api/jobs/{id}/cancel',
    summary: 'Cancel a job',
    reply: job,
    refusals: [404, 409],
  },
  pauseJob: {
    method: 'post',
    path: '/api/jobs/{id}/pause',
    summary: 'Pause a job',
    reply: job,
    refusals: [404, 409],
  },
  resumeJob: {
    method: 'post',
    path: '/api/jobs/{id}/resume',
    summary: 'Resume a job',
    reply: job,
    refusals: [404, 409],
  },
  projects: {
    method: 'get',
    path: '/api/projects',
    summary: 'Known folders and their named agents',
    reply: projects,
  },
} as const satisfies Routes
