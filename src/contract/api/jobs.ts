import * as v from 'valibot'
import { EXIT_REASONS, JOB_STATES, PERMISSION_MODES, RUNTIMES } from '../records/job.js'
import { flag, type Routes, words } from './route.js'
import { count, figure, maybe, spend, text, time } from './shapes.js'

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
  name: text,
  command: text,
  round: count,
  ok: v.boolean(),
  exit_code: maybe(v.number()),
  timed_out: v.boolean(),
  duration_ms: figure,
  output_path: text,
})

/** A job as `jobs list` has it. */
export const job = v.object({
  job_id: text,
  status: v.picklist(JOB_STATES),
  exit_reason: maybe(v.picklist(EXIT_REASONS)),
  detail: maybe(text),
  agent: maybe(text),
  work_item: maybe(text),
  prompt: text,
  /** Its agent and work item, else its prompt, shortened; null: it has none. */
  title: maybe(text),
  model: maybe(text),
  runtime: v.picklist(RUNTIMES),
  seat_id: text,
  parent_seat_id: maybe(text),
  session_id: maybe(text),
  sessions: v.array(attempt),
  handoffs: count,
  max_handoffs: count,
  compactions: count,
  /** Answers of the model over all sessions. */
  steps: count,
  /** null: the client's own. */
  permission_mode: maybe(text),
  /** Calls that the permission mode denied, and those among them that change files. */
  denied_calls: count,
  denied_edits: count,
  spend,
  checks: v.array(check),
  folder: text,
  worktree_path: maybe(text),
  branch_name: maybe(text),
  wait_until: maybe(time),
  /** The failure after which a request is tried again; null: none. */
  retry: maybe(v.object({ reason: text, attempt: count, max_attempts: maybe(count), at: time })),
  created_at: time,
  started_at: maybe(time),
  ended_at: maybe(time),
  ran_ms: figure,
  runner: maybe(v.object({ pid: v.number(), alive: v.boolean() })),
  result: maybe(text),
})
export type JobShown = v.InferOutput<typeof job>

export const jobDetail = v.object({
  ...job.entries,
  /** The checks it is configured with, in the order they run. */
  configured_checks: v.array(v.object({ name: text, command: text })),
  budgets: v.object({ usd: maybe(figure), tokens: maybe(figure), turns: maybe(figure), minutes: maybe(figure) }),
  /** Where its own files lie. */
  files: text,
})
export type JobDetail = v.InferOutput<typeof jobDetail>

/** `other`: what the agent was told. `ok`: false of a result that failed. */
export const jobLogLine = v.object({
  at: maybe(time),
  kind: v.picklist(['agent', 'call', 'result', 'baton', 'other']),
  text,
  ok: v.boolean(),
  /** Joins a result to its call; absent in other lines. */
  call_id: v.optional(text),
})
export type JobLogLine = v.InferOutput<typeof jobLogLine>

/** A part of what a job's clients said, as `jobs logs` tells it, plain text, long ones cut. `next`: where to read on (`?after=`). */
export const jobLog = v.object({
  lines: v.array(jobLogLine),
  next: text,
  /** There is more right now. */
  more: v.boolean(),
})
export type JobLogPart = v.InferOutput<typeof jobLog>

export const newJob = v.strictObject({
  /** A folder Baton knows, as `/api/projects` names it. */
  project: text,
  /** The name of an agent in that project's `baton.yaml`; null: none, the prompt alone. */
  agent: v.optional(maybe(text), null),
  /** Null: the agent's, else the client's own. */
  permission_mode: v.optional(maybe(v.picklist(PERMISSION_MODES)), null),
  prompt: v.optional(maybe(v.pipe(text, v.maxLength(100_000))), null),
  work_item: v.optional(maybe(v.pipe(text, v.maxLength(200))), null),
})

/** Folders sessions ran in, newest first, and the agents their `baton.yaml` names. */
export const projects = v.object({
  projects: v.array(
    v.object({
      project: text,
      agents: v.array(
        v.object({
          name: text,
          has_prompt: v.boolean(),
          model: maybe(text),
          /** Null: the client's own. */
          permission_mode: maybe(text),
        }),
      ),
      /** Why its agents cannot be told; null: they can. */
      trouble: maybe(text),
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
    summary: 'What its clients said',
    query: { after: words },
    reply: jobLog,
    refusals: [404],
  },
  cancelJob: {
    method: 'post',
    path: '/api/jobs/{id}/cancel',
    summary: 'End it',
    reply: job,
    refusals: [404, 409],
  },
  pauseJob: {
    method: 'post',
    path: '/api/jobs/{id}/pause',
    summary: 'Stop it so that it can go on later',
    reply: job,
    refusals: [404, 409],
  },
  resumeJob: {
    method: 'post',
    path: '/api/jobs/{id}/resume',
    summary: 'Go on with it',
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
