import type { AttemptRecord } from '../contract/records/job.js'
import { reasonOf } from '../lib/errors.js'
import { type AttemptCallbacks, AttemptHost } from './attempt-host.js'
import { freshAttempt } from './attempt-record.js'
import { type JobDependencies, recordAttempt } from './dependencies.js'
import { hooksFor } from './hooks/select-hooks.js'
import type { LiveSession } from './live-session.js'
import { budgetLeftFor, startSession } from './start-session.js'

interface WaitingClient {
  host: AttemptHost
  live: LiveSession
  money: number | null
}

/**
 * Starts the client of the next session during a handoff.
 * A client takes half a second to start.
 * Nothing is sent to it before the brief is stored.
 * Until then its attempt is `ready`, which no runner resumes.
 * If the early start fails, the client is simply started later.
 */
export class NextClient {
  private ready: Promise<WaitingClient | null> = Promise.resolve(null)

  constructor(
    private readonly deps: JobDependencies,
    private readonly jobId: string,
    private readonly journal: string,
    private readonly context: AttemptCallbacks,
    private readonly keep: (line: string) => void,
  ) {}

  /** Called when the session `attempt` has given its brief. */
  async start(attempt: AttemptRecord): Promise<void> {
    // Session start hooks run before a client starts, as they may change what the client reads.
    if (hooksFor(this.deps.store.job(this.jobId)!.spec.hooks, 'session_start').length > 0) return
    this.ready = this.ready.then((there) => there ?? this.startClient(attempt))
    await this.ready
  }

  private async startClient(attempt: AttemptRecord): Promise<WaitingClient | null> {
    try {
      const next = nextAttempt(this.deps, attempt, { state: 'ready', briefId: null })
      const host = new AttemptHost(this.deps, next, this.journal, this.context)
      const money = budgetLeftFor(this.deps, next)
      const { sessionId } = next
      return {
        host,
        live: await startSession(this.deps, host, { begin: { how: 'fresh' }, sessionId }, this.keep),
        money,
      }
    } catch (error) {
      this.deps.log('warn', 'the next client could not be started in advance', {
        job: this.jobId,
        reason: reasonOf(error),
      })
      return null
    }
  }

  /**
   * Returns the waiting attempt if it can still be used. Null when its budget is outdated.
   * A brief that was asked for twice has cost more than the client's budget assumes.
   */
  async usableAttempt(): Promise<AttemptRecord | null> {
    const ready = await this.ready
    if (ready !== null && ready.money === budgetLeftFor(this.deps, ready.host.attempt)) return ready.host.attempt
    await this.discard()
    return null
  }

  /**
   * Returns the waiting client for an attempt. Null when there is none.
   * Call `markUsed` after using the client.
   */
  async clientFor({ attemptId }: AttemptRecord): Promise<Pick<WaitingClient, 'host' | 'live'> | null> {
    const ready = await this.ready
    if (ready?.host.attempt.attemptId !== attemptId) return null
    ready.host.put({ process: ready.live.process })
    return ready
  }

  markUsed(): void {
    this.ready = Promise.resolve(null)
  }

  kill(): void {
    void this.ready.then((ready) => ready?.live.kill())
  }

  async discard(): Promise<void> {
    const ready = await this.ready
    this.ready = Promise.resolve(null)
    ready?.live.kill()
    await ready?.live.close()
    ready?.host.journal.close()
  }
}

/**
 * Creates the session after `attempt`, reusing a record that is `ready`.
 * The attempt gets a new session id unless the waiting client is used.
 */
export function nextAttempt(
  deps: JobDependencies,
  { jobId, number }: AttemptRecord,
  change: Pick<AttemptRecord, 'state' | 'briefId'>,
  waits: AttemptRecord | null = null,
): AttemptRecord {
  const fresh = freshAttempt(deps, jobId, number + 1, change.briefId)
  const { sessionId, start, startedAt } = fresh
  const spare = deps.store.attempts(jobId).find(({ state }) => state === 'ready')
  if (spare === undefined) return recordAttempt(deps, fresh, change)
  return recordAttempt(deps, spare, {
    ...change,
    start,
    startedAt,
    process: null,
    sessionId: waits?.sessionId ?? sessionId,
  })
}
