import type { AttemptRecord, JobRecord } from '../contract/job.js'
import type { JobParts } from './parts.js'

/** The session a job is in; one whose client only waits is not there yet. null: none has begun. */
export const lastBegun = (attempts: readonly AttemptRecord[]): AttemptRecord | null =>
  attempts.findLast(({ state }) => state !== 'ready') ?? null

/** A session that is about to begin, under an id of its own. */
export function freshAttempt(
  { newId, newSessionId, now }: Pick<JobParts, 'newId' | 'newSessionId' | 'now'>,
  jobId: string,
  number: number,
  briefId: string | null,
): AttemptRecord {
  return {
    ...{ attemptId: `attempt_${newId()}`, jobId, sessionId: newSessionId(), number },
    ...{ start: briefId === null ? 'fresh' : 'brief', briefId, state: 'starting', process: null },
    ...{ startedAt: now().toISOString(), endedAt: null, terminal: null },
    ...{ usedTokens: null, windowTokens: null, pointTokens: null, turns: 0, costUsd: null, compactions: 0 },
    spend: { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 },
  }
}

/** Whether a client may know its id already. */
export const wasStarted = ({ state, process }: AttemptRecord): boolean => state !== 'starting' || process !== null

/** What the events of a handoff tell. */
export function handoffFields(job: JobRecord, attempt: AttemptRecord, newSessionId: string | null): Record<string, unknown> {
  const { usedTokens, windowTokens } = attempt
  return {
    ...{ agentName: job.spec.agentName, jobId: job.jobId, oldSessionId: attempt.sessionId, newSessionId },
    usagePercent: usedTokens === null || windowTokens === null ? null : usedTokens / windowTokens,
    ...{ inputTokens: usedTokens, contextWindow: windowTokens, handoffNumber: job.handoffs + 1 },
  }
}

/** What one session may still cost: the client counts money itself, and stops in time. null: no bound. */
export function moneyLeft({ spec }: JobRecord, attempts: readonly AttemptRecord[], attempt: AttemptRecord): number | null {
  const { usd } = spec.budgets
  if (usd === null) return null
  const others = attempts.filter(({ attemptId }) => attemptId !== attempt.attemptId)
  return Math.max(0.01, usd - others.reduce((total, { costUsd }) => total + (costUsd ?? 0), 0))
}
