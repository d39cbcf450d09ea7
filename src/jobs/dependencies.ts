import type { EventData } from '../contract/api/event-data.js'
import type { BriefRecord, Coverage } from '../contract/records/brief.js'
import type { Event, EventType } from '../contract/records/event.js'
import type { AttemptRecord, JobRecord, RuntimeName } from '../contract/records/job.js'
import type { ContextUsage, Runtime } from '../contract/runtime.js'
import type { Log } from '../lib/log.js'
import type { NoticeContent } from '../policy/notice-text.js'
import type { Store } from '../store/store.js'
import type { JobLimits } from './its-turn.js'
import type { ToldCalls } from './journal.js'

/** The part of a brief by code beside the facts of the transcript. */
export interface BriefAppendix {
  /** Whole sections in Markdown; '' none. */
  text: string
  /** The lines that list calls; a brief without them leaves out work that is done. */
  calls: string[]
  /** The file that lists all calls, where the text does not; null: the text has them all. */
  path: string | null
}

/** What briefs of a job's sessions are made of; the engine does it, the composition passes it in. */
export interface BriefWriter {
  /** Below this score the agent is asked once more. */
  bar(sessionId: string): number
  /** How much of what happened a text carries; null: nobody can tell. */
  coverage(sessionId: string, text: string): Coverage | null
  /** Completed by what it lacks, signed and kept. */
  take(sessionId: string, text: string, reason: string): BriefRecord
  /** From the transcript, the repository and the job's journal, without a model. */
  write(sessionId: string, reason: string, appendix: BriefAppendix): BriefRecord
  /** null: it is gone, or somebody changed it. */
  read(brief: BriefRecord): string | null
}

/** Everything around a job that is not the job. */
export interface JobDependencies {
  store: Store
  now(): Date
  newId(): string
  /** A UUID: clients take nothing else. */
  newSessionId(): string
  log: Log
  /** Where a job's files lie; for the owner alone. */
  folderOf(jobId: string): string
  runtime(name: RuntimeName, folder: string, agent: string): Promise<Runtime>
  /** What clients, hooks and checks are started with. */
  env: Record<string, string>
  briefs: BriefWriter
  limits: JobLimits
  /** A session's client was started. Never throws, as all that measures. */
  sessionStarted(attempt: AttemptRecord, how: 'startup' | 'resume'): void
  /** What the client asked or told by a hook, as it wrote it. Returns what the summariser of a compaction that begins is to be told; '' nothing. */
  answerHook(event: string, payload: unknown, attempt: AttemptRecord): Promise<string>
  /** A figure the client gave. */
  recordUsage(usage: ContextUsage, attempt: AttemptRecord): void
  /** A session's client is gone. */
  sessionEnded(attempt: AttemptRecord): void
  /** What the next answer to a session is to carry, from Baton and from others; null: nothing. Never throws. */
  textForNextRequest(sessionId: string, after: 'batch' | 'compaction'): string | null
  /** The calls whose results the transcript of a session holds. */
  returnedCalls(sessionId: string): ToldCalls
  /** Whether the transcript of a session holds a text it was given. */
  transcriptHolds(sessionId: string, text: string): boolean
  /** Branch, commit and changes in a few lines; null: no repository. */
  repository(folder: string): string | null
  /**
   * Carries the user's trust in the project's file over to the same file in a worktree that Baton
   * made.
   */
  trustWorktree?(folder: string, worktree: string): void
  /** The transcript is kept, before it is left. */
  keep(sessionId: string): void
  /** A line that a client of the job wrote, as it came. Absent: nobody shows it. */
  showLine?(jobId: string, line: string): void
  /** Events that were stored, for whoever listens. */
  tell(events: Event[]): void
  /**
   * Stores what the user is to be told of a job outside of it, inside the transaction of its cause;
   * another process sends it.
   */
  notify(job: JobRecord, contents: readonly NoticeContent[]): void
}

/** Stores a change of the job and what happened, together, then tells it. */
export function record(
  deps: JobDependencies,
  jobId: string,
  change: Partial<JobRecord>,
  events: Happening[] = [],
  notices: readonly NoticeContent[] = [],
): JobRecord {
  const { store } = deps
  const stored: Event[] = []
  const job = store.transaction(() => {
    const now = store.job(jobId)!
    const at = deps.now().toISOString()
    const moved: JobRecord = {
      ...now,
      ...change,
      stateAt: change.state && change.state !== now.state ? at : now.stateAt,
    }
    store.putJob(moved)
    for (const { type, data, sessionId } of events)
      stored.push(
        store.addEvent({
          type,
          at,
          data,
          job_id: jobId,
          seat_id: moved.seatId,
          session_id: sessionId === undefined ? moved.sessionId : sessionId,
        }),
      )
    if (notices.length > 0) deps.notify(moved, notices)
    return moved
  })
  deps.tell(stored)
  return job
}

export type Happening = {
  [Type in EventType]: {
    type: Type
    data: EventData[Type]
    /** Absent: the job's session. */
    sessionId?: string | null
  }
}[EventType]

export function recordAttempt(
  { store }: JobDependencies,
  attemptId: AttemptRecord,
  change: Partial<AttemptRecord>,
): AttemptRecord {
  return store.transaction(() => {
    const now = store.attempts(attemptId.jobId).find((one) => one.attemptId === attemptId.attemptId) ?? attemptId
    const moved = { ...now, ...change }
    store.putAttempt(moved)
    return moved
  })
}
