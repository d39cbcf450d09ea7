import type { HandoffFields } from '../contract/api/event-data.js'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import { type JobDependencies, recordJob } from './dependencies.js'

/**
 * Returns the attempt (session) that a job is in. Null before the first.
 * Ignores an attempt whose client only waits.
 */
export const lastStartedAttempt = (attempts: readonly AttemptRecord[]): AttemptRecord | null =>
  attempts.findLast(({ state }) => state !== 'ready') ?? null

/** Creates the record of a new session with a new id. */
export function freshAttempt(
  { newId, newSessionId, now }: Pick<JobDependencies, 'newId' | 'newSessionId' | 'now'>,
  jobId: string,
  number: number,
  briefId: string | null,
): AttemptRecord {
  return {
    attemptId: `attempt_${newId()}`,
    jobId,
    sessionId: newSessionId(),
    number,
    start: briefId === null ? 'fresh' : 'brief',
    briefId,
    state: 'starting',
    process: null,
    startedAt: now().toISOString(),
    endedAt: null,
    terminal: null,
    usedTokens: null,
    windowTokens: null,
    pointTokens: null,
    turns: 0,
    costUsd: null,
    compactions: 0,
    spend: { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 },
  }
}

/** True when a client may already know the session id. */
export const wasStarted = ({ state, process }: AttemptRecord): boolean => state !== 'starting' || process !== null

/** Returns the data of handoff events. */
export function handoffFields(job: JobRecord, attempt: AttemptRecord, newSessionId: string | null): HandoffFields {
  const { usedTokens, windowTokens } = attempt
  return {
    agentName: job.spec.agentName,
    jobId: job.jobId,
    oldSessionId: attempt.sessionId,
    newSessionId,
    usagePercent: usedTokens === null || windowTokens === null ? null : usedTokens / windowTokens,
    inputTokens: usedTokens,
    contextWindow: windowTokens,
    handoffNumber: job.handoffs + 1,
  }
}

/**
 * Returns the cost in USD that a session may still cause. Null without a budget.
 * The client counts the cost itself and stops in time.
 */
export function budgetLeft(
  { spec }: JobRecord,
  attempts: readonly AttemptRecord[],
  attempt: AttemptRecord,
): number | null {
  const { usd } = spec.budgets
  if (usd === null) return null
  const others = attempts.filter(({ attemptId }) => attemptId !== attempt.attemptId)
  // A client that resumes a session counts the cost from the session's total.
  const carried = attempt.carried?.costUsd ?? 0
  return carried + Math.max(0.01, usd - others.reduce((total, { costUsd }) => total + (costUsd ?? 0), 0))
}

/**
 * Decides what a job does when it is started or its last session has ended.
 *
 * | last attempt | next |
 * |---|---|
 * | none (no attempt yet) | the first session begins |
 * | starting | it never got a prompt: it begins, with a new id if a client had the first id |
 * | prompted | resumed if transcript or journal prove that the prompt arrived, else it begins |
 * | working | it is resumed |
 * | stopped, asked | the handoff continues with its brief |
 * | over | it has ended: a job that continues after its end resumes it |
 */
type Plan = { do: 'begin' } | { do: 'begin-again' } | { do: 'resume' } | { do: 'hand-off' }

export function planAttempt(last: AttemptRecord | null, wasReceived: boolean): Plan {
  if (last === null) return { do: 'begin' }
  switch (last.state) {
    case 'starting':
      return { do: 'begin-again' }
    case 'prompted':
      return wasReceived ? { do: 'resume' } : { do: 'begin-again' }
    case 'stopped':
    case 'asked':
      return { do: 'hand-off' }
    default:
      return { do: 'resume' }
  }
}

/** Interval between two times when the work time is stored. A kill loses at most this much. */
const STORE_INTERVAL_MS = 5_000

/**
 * Measures how long a job has really run, over all its runners, for the budget of minutes.
 * Pauses and waiting for a usage limit do not count.
 */
export class JobRunningTime {
  private known = 0
  private since: number | null = null
  private keptAt = 0

  constructor(
    private readonly deps: JobDependencies,
    private readonly jobId: string,
  ) {}

  start(): void {
    this.known = this.deps.store.job(this.jobId)!.ranMs
    this.since = this.keptAt = performance.now()
  }

  ranMs(): number {
    if (this.since === null) return this.deps.store.job(this.jobId)!.ranMs
    return Math.round(this.known + performance.now() - this.since)
  }

  /** Stores the time every few seconds. Called often. */
  tick(): void {
    if (this.since !== null && performance.now() - this.keptAt >= STORE_INTERVAL_MS) this.keep()
  }

  stop(): void {
    this.keep()
    this.since = null
  }

  private keep(): void {
    this.keptAt = performance.now()
    recordJob(this.deps, this.jobId, { ranMs: this.ranMs() })
  }
}
