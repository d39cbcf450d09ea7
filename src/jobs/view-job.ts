import type { JobDetail, JobView } from '../contract/api/jobs.js'
import type { Usage } from '../contract/reading.js'
import type { AttemptRecord, CheckResult, JobRecord, JobRetry } from '../contract/records/job.js'
import { isAlive } from '../lib/process-info.js'
import { workTitle } from '../lib/short-title.js'
import type { Store } from '../store/store.js'

/** Returns a job in detail, including its budgets and the folder of its files. */
export function viewJobDetail(job: JobRecord, attempts: readonly AttemptRecord[], files: string): JobDetail {
  const { budgets, checks } = job.spec
  const configured = checks.map(({ name, command }) => ({ name, command }))
  return { ...viewJob(job, attempts), configured_checks: configured, budgets, files }
}

/** Returns the sessions of a job with the cost that is known now, also within a turn. */
export function attemptsToShow(store: Pick<Store, 'attempts' | 'session'>, jobId: string): AttemptRecord[] {
  return store.attempts(jobId).map((attempt) => ({ ...attempt, costUsd: costSoFar(store, attempt) }))
}

/**
 * Returns the cost of a session of a job. Null while no client has reported one.
 * The runtime reports the cost at the end of a turn, the plugin module after each answer.
 * The record of an ended session is not read, because a user may have resumed that session.
 */
function costSoFar(store: Pick<Store, 'session'>, { sessionId, costUsd, carried, endedAt }: AttemptRecord) {
  const reported = endedAt === null ? (store.session(sessionId)?.costUsd ?? null) : null
  if (reported === null) return costUsd
  return Math.max(costUsd ?? 0, reported - (carried?.costUsd ?? 0))
}

/** Returns a job as commands and routes show it. */
export function viewJob(job: JobRecord, attempts: readonly AttemptRecord[]): JobView {
  const { spec, workspace } = job
  return {
    job_id: job.jobId,
    status: job.state,
    exit_reason: job.exitReason,
    detail: job.detail === '' ? null : job.detail,
    agent: spec.agentName,
    work_item: spec.workItem,
    prompt: spec.prompt,
    title: workTitle(spec),
    model: spec.model,
    runtime: spec.runtime,
    seat_id: job.seatId,
    parent_seat_id: job.parentSeatId,
    session_id: job.sessionId,
    sessions: attempts.filter(({ state }) => state !== 'ready').map(viewAttempt),
    handoffs: job.handoffs,
    max_handoffs: spec.maxHandoffs,
    compactions: job.compactions,
    steps: sum(attempts, ({ turns }) => turns),
    permission_mode: spec.permissionMode,
    denied_calls: sum(attempts, ({ refused = 0 }) => refused),
    denied_edits: job.edits?.denied ?? 0,
    spend: viewSpend(attempts),
    checks: job.checks.map(viewCheck),
    folder: workspace?.folder ?? spec.folder,
    worktree_path: workspace?.worktree?.path ?? null,
    branch_name: workspace?.worktree?.branch ?? null,
    wait_until: job.waitUntil,
    retry: job.retry ? viewRetry(job.retry) : null,
    created_at: job.createdAt,
    started_at: job.startedAt,
    ended_at: job.endedAt,
    ran_ms: job.ranMs,
    runner: job.runner === null ? null : { pid: job.runner.pid, alive: isAlive(job.runner) },
    result: job.result,
  }
}

function viewRetry({ reason, attempt, most, until }: JobRetry) {
  return { reason, attempt, max_attempts: most, at: until }
}

function viewAttempt(attempt: AttemptRecord) {
  return {
    session_id: attempt.sessionId,
    number: attempt.number,
    start: attempt.start,
    state: attempt.state,
    brief_id: attempt.briefId,
    used_tokens: attempt.usedTokens,
    window_tokens: attempt.windowTokens,
    compaction_tokens: attempt.pointTokens,
    steps: attempt.turns,
    compactions: attempt.compactions,
    cost_usd: attempt.costUsd,
    started_at: attempt.startedAt,
    ended_at: attempt.endedAt,
  }
}

function viewSpend(attempts: readonly AttemptRecord[]) {
  const of = (key: keyof Usage): number => sum(attempts, ({ spend }) => spend[key])
  const all = of('input') + of('cacheCreation') + of('cacheRead')
  const priced = attempts.filter(({ costUsd }) => costUsd !== null)
  return {
    input_tokens: of('input'),
    output_tokens: of('output'),
    cache_creation_tokens: of('cacheCreation'),
    cache_read_tokens: of('cacheRead'),
    cache_hit_rate: all === 0 ? null : Math.round((of('cacheRead') / all) * 1000) / 1000,
    cost_usd: priced.length === 0 ? null : sum(priced, ({ costUsd }) => costUsd!),
  }
}

function viewCheck(check: CheckResult) {
  return {
    name: check.name,
    command: check.command,
    round: check.round,
    ok: check.ok,
    exit_code: check.exitCode,
    timed_out: check.timedOut,
    duration_ms: check.durationMs,
    output_path: check.outputPath,
  }
}

function sum(attempts: readonly AttemptRecord[], of: (attempt: AttemptRecord) => number): number {
  return attempts.reduce((total, attempt) => total + of(attempt), 0)
}
