import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { CompactionRecord } from '../contract/records/compaction.js'
import type { Event, NewEvent } from '../contract/records/event.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import type { Message } from '../contract/records/message.js'
import type { NoticeRecord, NoticeStore } from '../contract/records/notice.js'
import type { SeatRecord, SessionRecord, StoredReading, SubagentRecord } from '../contract/records/session.js'
import type { SpendIncrement, SpendRow } from '../contract/records/spend.js'

/**
 * Prefix of `claimOnce` ids for warnings that the user sees once, however many sessions cause them.
 */
export const SHOWN_ONCE_PREFIX = 'told.'

/** Scope of a `baton off` or `baton on` switch. The scope `all` has an empty key. */
export type SwitchScope = 'session' | 'project' | 'all'

export interface EventQuery {
  sessionId?: string
  jobId?: string
  /** Returns only events with a higher id. */
  afterId?: number
  /** Returns only events at or after this ISO time. */
  since?: string
  /**
   * `newest` returns only the newest matching reading of each session, `none` returns no readings.
   */
  readings?: 'newest' | 'none'
  limit?: number
}

export interface SessionQuery {
  /** Returns only sessions seen at or after this ISO time. */
  seenSince?: string
  project?: string
  /** Returns only sessions for which Baton must still decide whether to write a brief. */
  wantsBrief?: boolean
  /**
   * Selects active sessions: those whose state is neither `ended` nor `unknown`.
   * `also` returns them in addition to the sessions that match `seenSince`.
   * `only` returns active sessions alone.
   * Absent: activity is not considered.
   */
  active?: 'also' | 'only'
}

export interface ArchiveQuery {
  sessionId?: string
  project?: string
}

/** Filter for briefs and handoffs. A limit returns the newest. */
interface HandoffQuery {
  seatId?: string
  sessionId?: string
  limit?: number
}

/**
 * Keeps all state of Baton.
 * Synchronous, because a hook lives for milliseconds and runs one transaction.
 * Every write happens inside `transaction`. An exception from its callback rolls everything back.
 * Several processes may open the same store. A transaction sees everything others committed.
 */
export interface Store extends NoticeStore {
  /**
   * Runs `work` in one transaction.
   * `preloaded` holds results for `readUnlocked`, by key, that were read before the lock was taken.
   */
  transaction<T>(work: () => T, preloaded?: Map<string, unknown>): T
  inTransaction(): boolean
  /**
   * Runs `read` without holding the store's lock, then continues with its result.
   * Rolls the transaction back, runs `read`, and runs the transaction again with the result.
   * Files can be slow to read, and every other process waits for the lock meanwhile.
   * `key` names the file and everything that the read depends on.
   * A result read for an older state of the store has another key and is not used.
   * Outside a transaction, `read` simply runs.
   */
  readUnlocked<T>(key: string, read: () => T): T
  /**
   * Lets reads inside `work` return cached records that other processes may have replaced.
   * Use the result only for guesses that a transaction verifies later.
   */
  peek<T>(work: () => T): T
  /**
   * Runs `work` after the outermost transaction commits, never if it fails. Outside one, at once.
   * Meant for side effects that a rollback cannot undo.
   */
  afterCommit(work: () => void): void

  session(sessionId: string): SessionRecord | null
  sessions(query?: SessionQuery): SessionRecord[]
  /** Returns the ids of sessions seen at or after this ISO time. */
  seenSince(time: string): string[]
  /** Returns the sessions of a seat (terminal or job), oldest first. */
  chain(seatId: string): SessionRecord[]
  putSession(record: SessionRecord): void

  seat(seatId: string): SeatRecord | null
  seatByName(name: string): SeatRecord | null
  /** Returns the newest seat of a process, so that a session started by `/clear` keeps its seat. */
  seatOfProcess(pid: number, startedAt: string): SeatRecord | null
  putSeat(record: SeatRecord): void

  subagents(sessionId: string): SubagentRecord[]
  putSubagent(record: SubagentRecord): void

  /** Returns the token readings of a session, oldest first. A limit returns the newest. */
  readings(sessionId: string, limit?: number): StoredReading[]

  addEvent(event: NewEvent): Event
  /**
   * Returns events by ascending id.
   * A limit returns the oldest matches when `afterId` is given, else the newest.
   */
  events(query?: EventQuery): Event[]

  putMessage(message: Message): void
  message(messageId: string): Message | null
  /** Returns messages that are still undelivered or unconfirmed, oldest first. */
  openMessages(seatId: string): Message[]
  messages(query?: { seatId?: string; limit?: number }): Message[]

  /**
   * Returns false when this id was claimed before.
   * A signal replayed after a crash thus counts once.
   * Claims expire after a day, those with `SHOWN_ONCE_PREFIX` after a year.
   */
  claimOnce(signalId: string, at: string): boolean

  /**
   * Returns the narrowest on/off switch for a session: its own, its project's, or the global one.
   * Null when no such switch was ever set.
   */
  nearestSwitch(sessionId: string, project: string | null): boolean | null
  /** Returns an on/off switch. Null when this scope and key were never switched. */
  switchState(scope: SwitchScope, key: string): boolean | null
  /** Deletes more specific switches, which a newer, broader switch overrides. */
  clearSwitches(scope: 'session' | 'project', keys: readonly string[] | 'all'): void
  setSwitch(scope: SwitchScope, key: string, enabled: boolean, at: string): void

  /** Returns a compaction's record. Null when the compaction is unknown. */
  compaction(sessionId: string, startedAt: string): CompactionRecord | null
  /** Returns the compactions of a session, oldest first. */
  compactions(sessionId: string): CompactionRecord[]
  /** Returns compactions whose facts are still unread. */
  openCompactions(): CompactionRecord[]
  /** Returns the ids of sessions with a compaction whose end has not been reported. */
  compacting(): string[]
  putCompaction(record: CompactionRecord): void
  /** Marks a compaction as ended. */
  endCompaction(sessionId: string, startedAt: string): void
  /**
   * Erases every quote of a session's conversation, also in copies of its briefs given to others.
   * Records that something happened stay. Returns the number of entries that held text.
   */
  eraseQuotes(sessionId: string): number

  brief(briefId: string): BriefRecord | null
  /** Returns briefs oldest first. Those of one seat (terminal or job) are ordered by sequence. */
  briefs(query?: HandoffQuery): BriefRecord[]
  /** Returns the briefs a session received, from any seat, in the order it received them. */
  briefsUsedBy(sessionId: string): BriefRecord[]
  /** Stores a brief. Throws when another brief of the seat has the same sequence. */
  putBrief(record: BriefRecord): void
  /**
   * Returns the next brief number of a seat (terminal or job), starting at 1.
   * Numbers of deleted briefs are never reused.
   * Call the function in the transaction that stores the brief.
   */
  nextBriefSequence(seatId: string): number
  /** Deletes the brief records of a session. Their files are not touched. */
  dropBriefs(sessionId: string): void

  handoff(handoffId: string): HandoffRecord | null
  /** Returns handoffs in the order they were requested, oldest first. */
  handoffs(query?: HandoffQuery): HandoffRecord[]
  /** Returns handoffs that are not done, failed or cancelled, oldest first. */
  openHandoffs(query?: { seatId?: string }): HandoffRecord[]
  /** Returns open handoffs whose due time has passed, the longest overdue first. */
  dueHandoffs(now: string): HandoffRecord[]
  /** Stores a handoff. The handoff's seat must never change. */
  putHandoff(record: HandoffRecord): void

  job(jobId: string): JobRecord | null
  /** Returns jobs in the order they were requested, oldest first. A limit returns the newest. */
  jobs(query?: { limit?: number }): JobRecord[]
  /** Returns jobs that have not ended, and ended jobs whose hooks must still run, oldest first. */
  openJobs(): JobRecord[]
  /** Stores a job. The job's seat must never change. */
  putJob(record: JobRecord): void
  /** Deletes a job with its attempts, and erases the text in its events. */
  removeJob(jobId: string): void
  /** Returns the attempts of a job by number. */
  attempts(jobId: string): AttemptRecord[]
  /** Returns the newest attempt that ran in a session. Null when the session belongs to no job. */
  attemptOfSession(sessionId: string): AttemptRecord | null
  /** Stores an attempt (session of a job). Throws when another attempt has the same number. */
  putAttempt(record: AttemptRecord): void

  archive(archiveId: string): ArchiveRecord | null
  /** Returns archives, oldest first. */
  archives(query?: ArchiveQuery): ArchiveRecord[]
  /**
   * Returns archives with work left, oldest first.
   * They are pending, to be retried, or kept but not yet searchable.
   */
  openArchives(): ArchiveRecord[]
  /** Stores an archive. Throws when another archive has the same file name stem. */
  putArchive(record: ArchiveRecord): void
  dropArchive(archiveId: string): void
  /** Returns segments (stored byte ranges) ordered by stream and byte offset. */
  segments(query?: { streamId?: string; sessionId?: string }): SegmentRecord[]
  putSegment(record: SegmentRecord): void
  dropSegment(file: string): void
  /** Returns files that no record refers to and that still have to be deleted from the disk. */
  leftovers(): string[]
  putLeftover(item: string): void
  dropLeftover(item: string): void

  /** Stores a notice. Returns false, and changes nothing, when one with this id exists already. */
  addNotice(record: NoticeRecord): boolean
  /**
   * Returns notices of usage limits stored or ending since a time, oldest first.
   * Excludes notices of jobs.
   */
  limitNotices(since: string): NoticeRecord[]
  /** Returns the newest notice per target that was sent or failed for good, newest first. */
  lastDeliveries(): NoticeRecord[]

  /** Adds spend. Call the function in the transaction that stores the session's new total. */
  addSpend(spent: SpendIncrement): void
  /** Returns spend rows, oldest first. */
  spend(query: { fromQuarter: number }): SpendRow[]
  /** Returns the first quarter hour with spend. Null when nothing was spent yet. */
  firstSpend(): number | null
  /** Returns ended compactions and completed handoffs since a time, oldest first. */
  milestones(since: string): Event[]

  /**
   * Deletes old readings but the last per hour, expired claims and old notices.
   * Returns the number of deleted rows.
   */
  deleteOldRows(now: Date): number
  sizes(): { sessions: number; readings: number; events: number; messages: number; notices: number; bytes: number }
  close(): void
}
