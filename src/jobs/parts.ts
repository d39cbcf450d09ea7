import type { BriefRecord, Coverage } from '../contract/brief.js'
import type { Event, NewEvent } from '../contract/event.js'
import type { AttemptRecord, JobRecord, RuntimeName } from '../contract/job.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import type { JobLimits } from './its-turn.js'
import type { ToldCalls } from './journal.js'
import type { ContextUsage, Runtime } from './runtimes/runtime.js'

/** What briefs of a job's sessions are made of; the engine does it, house.ts passes it in. */
export interface BriefDesk {
  /** Below this score the agent is asked once more. */
  bar(sessionId: string): number
  /** How much of what happened a text carries; null: nobody can tell. */
  coverage(sessionId: string, text: string): Coverage | null
  /** Completed by what it lacks, signed and kept. */
  take(sessionId: string, text: string, reason: string): BriefRecord
  /** From the transcript alone. */
  write(sessionId: string, reason: string): BriefRecord
  /** null: it is gone, or somebody changed it. */
  read(brief: BriefRecord): string | null
}

/** Everything around a job that is not the job. */
export interface JobParts {
  store: Store
  now(): Date
  newId(): string
  /** A UUID: clients take nothing else. */
  newSessionId(): string
  log: Log
  /** Where a job's files lie; for the owner alone. */
  folderOf(jobId: string): string
  runtime(name: RuntimeName, folder: string): Promise<Runtime>
  /** What clients, hooks and checks are started with. */
  env: Record<string, string>
  briefs: BriefDesk
  limits: JobLimits
  /** A session's client was started. Never throws, as all that measures. */
  began(attempt: AttemptRecord, how: 'startup' | 'resume'): void
  /** What the client asked or told by a hook, as it wrote it. Returns what the summariser of a compaction that begins is to be told; '' nothing. */
  hooked(event: string, payload: unknown, attempt: AttemptRecord): Promise<string>
  /** A figure the client gave. */
  measured(usage: ContextUsage, attempt: AttemptRecord): void
  /** A session's client is gone. */
  left(attempt: AttemptRecord): void
  /** What the next answer to a session is to carry, from Baton and from others; null: nothing. Never throws. */
  says(sessionId: string, after: 'batch' | 'compaction'): string | null
  /** The calls whose results the transcript of a session holds. */
  told(sessionId: string): ToldCalls
  /** Whether the transcript of a session holds a text it was given. */
  heard(sessionId: string, text: string): boolean
  /** Branch, commit and changes in a few lines; null: no repository. */
  repository(folder: string): string | null
  /** The transcript is kept, before it is left. */
  keep(sessionId: string): void
  /** Events that were stored, for whoever listens. */
  tell(events: Event[]): void
}

/** Stores a change of the job and what happened, together, then tells it. */
export function record(parts: JobParts, jobId: string, change: Partial<JobRecord>, events: Happening[] = []): JobRecord {
  const { store } = parts
  const stored: Event[] = []
  const job = store.transaction(() => {
    const now = store.job(jobId)!
    const at = parts.now().toISOString()
    const moved: JobRecord = { ...now, ...change, stateAt: change.state && change.state !== now.state ? at : now.stateAt }
    store.putJob(moved)
    for (const { type, data, sessionId } of events)
      stored.push(
        store.addEvent({
          ...{ type, at, data, job_id: jobId, seat_id: moved.seatId },
          session_id: sessionId === undefined ? moved.sessionId : sessionId,
        }),
      )
    return moved
  })
  parts.tell(stored)
  return job
}

export interface Happening {
  type: NewEvent['type']
  data: Record<string, unknown>
  /** Absent: the job's session. */
  sessionId?: string | null
}

export function recordAttempt({ store }: JobParts, attemptId: AttemptRecord, change: Partial<AttemptRecord>): AttemptRecord {
  return store.transaction(() => {
    const now = store.attempts(attemptId.jobId).find((one) => one.attemptId === attemptId.attemptId) ?? attemptId
    const moved = { ...now, ...change }
    store.putAttempt(moved)
    return moved
  })
}
