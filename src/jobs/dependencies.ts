import type { EventData } from '../contract/api/event-data.js'
import type { BriefRecord, Coverage } from '../contract/records/brief.js'
import type { Event, EventType } from '../contract/records/event.js'
import type { AttemptRecord, JobRecord, RuntimeName } from '../contract/records/job.js'
import type { ContextUsage, Runtime } from '../contract/runtime.js'
import type { Log } from '../lib/log.js'
import type { NoticeContent } from '../policy/notice-text.js'
import type { Store } from '../store/store.js'
import type { JobLimits } from './job-start-order.js'
import type { TranscriptCalls } from './journal.js'

/** Sections of a brief written by code, besides the facts of the transcript. */
export interface BriefAppendix {
  /** Complete Markdown sections. Empty when there are none. */
  text: string
  /** Lines that list calls. Without them, a brief would omit finished work. */
  calls: string[]
  /** File that lists all calls if the text does not. Null when the text lists them all. */
  path: string | null
}

/** Creates the briefs of a job's sessions. Implemented by the engine and passed in. */
export interface BriefWriter {
  /** Returns the minimum coverage of a brief. With less, the agent is asked once more. */
  minScore(sessionId: string): number
  /** Returns how much of the session a text covers. Null when that cannot be measured. */
  coverage(sessionId: string, text: string): Coverage | null
  /** Completes, signs and stores a brief that an agent wrote. */
  storeAgentBrief(sessionId: string, text: string, reason: string): BriefRecord
  /** Writes a brief from transcript, repository and journal, without a model. */
  writeByCode(sessionId: string, reason: string, appendix: BriefAppendix): BriefRecord
  /** Returns the text of a brief. Null when its file is missing or was changed. */
  read(brief: BriefRecord): string | null
}

/** Dependencies of a job. */
export interface JobDependencies {
  store: Store
  now(): Date
  newId(): string
  /** Returns a UUID, the only form of id that clients accept. */
  newSessionId(): string
  log: Log
  /** Returns the folder of a job's files, readable by the owner alone. */
  folderOf(jobId: string): string
  runtime(name: RuntimeName, folder: string, agent: string): Promise<Runtime>
  /** Environment of clients, hooks and checks. */
  env: Record<string, string>
  briefs: BriefWriter
  limits: JobLimits
  /** Called when a session's client has started. Never throws, like all callbacks that measure. */
  sessionStarted(attempt: AttemptRecord, how: 'startup' | 'resume'): void
  /**
   * Handles a hook event of the client, with its payload as received.
   * Returns instructions for the summarizer of a starting compaction. Empty for other events.
   */
  answerHook(event: string, payload: unknown, attempt: AttemptRecord): Promise<string>
  /** Called with a context usage reported by the client. */
  recordUsage(usage: ContextUsage, attempt: AttemptRecord): void
  /** Called when a session's client has ended. */
  sessionEnded(attempt: AttemptRecord): void
  /**
   * Returns text for a session's next request, from Baton and others. Null when there is none.
   * Never throws.
   */
  textForNextRequest(sessionId: string, after: 'batch' | 'compaction'): string | null
  /** Returns the calls whose results are in the transcript of a session. */
  returnedCalls(sessionId: string): TranscriptCalls
  /** True when the transcript of a session contains a text it was given. */
  transcriptHolds(sessionId: string, text: string): boolean
  /** Describes branch, commit and changes in a few lines. Null without a repository. */
  repository(folder: string): string | null
  /**
   * Extends the user's trust in the project's file to the same file in a worktree that Baton made.
   */
  trustWorktree?(folder: string, worktree: string): void
  /** Archives the transcript of a session before the job leaves the session. */
  archiveTranscript(sessionId: string): void
  /** Shows a raw line that a client of the job wrote. Absent when nothing shows it. */
  showLine?(jobId: string, line: string): void
  /** Publishes stored events to subscribers. */
  publish(events: Event[]): void
  /**
   * Stores a notice to the user about a job, inside the transaction of its cause.
   * Another process sends the notice.
   */
  notify(job: JobRecord, contents: readonly NoticeContent[]): void
}

/** Stores a change of the job together with its events, then publishes the events. */
export function recordJob(
  deps: JobDependencies,
  jobId: string,
  change: Partial<JobRecord>,
  events: JobEvent[] = [],
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
  deps.publish(stored)
  return job
}

export type JobEvent = {
  [Type in EventType]: {
    type: Type
    data: EventData[Type]
    /** Session of the event. Absent for the job's current session. */
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
