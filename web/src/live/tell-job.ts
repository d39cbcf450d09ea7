import type { JobShown } from '../../../src/contract/api/jobs.js'
import type { Event } from '../../../src/contract/event.js'

type Attempt = JobShown['sessions'][number]
type Check = JobShown['checks'][number]

/** A job's row after one of its events; null: it says nothing that the row could show at once. */
export function tellJob(job: JobShown, { type, at, data }: Event): JobShown | null {
  switch (type as string) {
    case 'job_progress':
      return progress(job, data)
    case 'job_started':
      return { ...job, status: 'running', started_at: job.started_at ?? at }
    case 'job_paused':
      return { ...job, status: 'paused' }
    case 'handoff_started':
      return { ...job, status: 'handing-off' }
    case 'job_completed':
    case 'job_failed':
    case 'job_cancelled':
      return { ...job, status: type.slice(4) as JobShown['status'], ended_at: at, exit_reason: reason(data.exit_reason) }
    case 'check_completed':
      return checked(job, data)
    default:
      return null
  }
}

function progress(job: JobShown, data: Event['data']): JobShown {
  const figures: Partial<Attempt> = {
    used_tokens: figure(data.used_tokens),
    window_tokens: figure(data.window_tokens),
    compaction_tokens: figure(data.compaction_tokens),
    steps: figure(data.steps) ?? 0,
  }
  return {
    ...job,
    steps: figure(data.total_steps) ?? job.steps,
    handoffs: figure(data.handoffs) ?? job.handoffs,
    sessions: job.sessions.map((each) => (each.number === data.session ? { ...each, ...figures } : each)),
  }
}

function checked(job: JobShown, data: Event['data']): JobShown | null {
  const { round, output_path: path } = data
  if (typeof round !== 'number' || typeof path !== 'string' || typeof data.ok !== 'boolean') return null
  const check: Check = {
    name: typeof data.name === 'string' ? data.name : null,
    command: typeof data.command === 'string' ? data.command : null,
    round,
    ok: data.ok,
    exit_code: figure(data.exit_code),
    timed_out: data.timed_out === true,
    duration_ms: figure(data.duration_ms) ?? 0,
    output_path: path,
  }
  const others = job.checks.filter((each) => each.round !== round || each.output_path !== path)
  return { ...job, checks: [...others, check] }
}

const figure = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const reason = (value: unknown): JobShown['exit_reason'] =>
  typeof value === 'string' ? (value as JobShown['exit_reason']) : null
