import type { HandoffFields } from '../contract/api/event-data.js'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import { type JobDependencies, record } from './dependencies.js'

/** The session a job is in; one whose client only waits is not there yet. null: none has begun. */
export const lastBegun = (attempts: readonly AttemptRecord[]): AttemptRecord | null =>
  attempts.findLast(({ state }) => state !== 'ready') ?? null

/** A session that is about to begin, under an id of its own. */
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

/** Whether a client may know its id already. */
export const wasStarted = ({ state, process }: AttemptRecord): boolean => state !== 'starting' || process !== null

/** What the events of a handoff tell. */
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

/** What one session may still cost: the client counts money itself, and stops in time. null: no bound. */
export function moneyLeft(
  { spec }: JobRecord,
  attempts: readonly AttemptRecord[],
  attempt: AttemptRecord,
): number | null {
  const { usd } = spec.budgets
  if (usd === null) return null
  const others = attempts.filter(({ attemptId }) => attemptId !== attempt.attemptId)
  // A client that resumes a session counts from the session's total.
  const carried = attempt.carried?.costUsd ?? 0
  return carried + Math.max(0.01, usd - others.reduce((total, { costUsd }) => total + (costUsd ?? 0), 0))
}

/**
 * What a job does when somebody begins to run it, or its last session has ended. By what is stored of the last attempt:
 *
 *   none                 the first session begins
 *   starting             it was never told anything: it begins, under an id of its own if a client was started with the first
 *   prompted             it was told, or about to be. Where the transcript or the journal shows that it heard, it is resumed; else it begins
 *   working              it is resumed
 *   stopped, asked       its brief is still wanted: a handoff goes on
 *   over                 it has ended: a job that goes on after its end resumes it
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

/** So much a kill may forget. */
const KEPT_MS = 5_000

/** The time a job has really run, over all its runners: its budget of minutes. Waiting for a limit and pauses do not count. */
export class WorkClock {
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

  /** Called often; what it came to is stored now and then. */
  tick(): void {
    if (this.since !== null && performance.now() - this.keptAt >= KEPT_MS) this.keep()
  }

  stop(): void {
    this.keep()
    this.since = null
  }

  private keep(): void {
    this.keptAt = performance.now()
    record(this.deps, this.jobId, { ranMs: this.ranMs() })
  }
}
