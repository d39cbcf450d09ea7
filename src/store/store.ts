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
 * Begins the ids of what the user is told once, however many sessions would have reason to say it.
 */
export const TOLD = 'told.'

/** Where `off` and `on` apply. `all` has no key. */
export type SwitchScope = 'session' | 'project' | 'all'

export interface EventQuery {
  sessionId?: string
  jobId?: string
  /** Only events with a higher id. */
  afterId?: number
  /** Only events at or after this ISO time. */
  since?: string
  /** Of the readings that match otherwise only the newest of each session, or none. */
  readings?: 'newest' | 'none'
  limit?: number
}

export interface SessionQuery {
  /** Only sessions seen at or after this ISO time. */
  seenSince?: string
  project?: string
  /** Only those a brief is still to be written of. */
  wantsBrief?: boolean
  /**
   * `too`: beside those of `seenSince` all that go on, whenever they were seen; `only`: all that go on and no others. One goes on unless its
   * state is `ended` or `unknown`. Left out: that does not matter.
   */
  goingOn?: 'too' | 'only'
}

export interface ArchiveQuery {
  sessionId?: string
  project?: string
}

/** Of briefs and handoffs. With a limit, the newest. */
interface HandoffQuery {
  seatId?: string
  sessionId?: string
  limit?: number
}

/**
 * The one place where state is kept. Synchronous, because a hook lives for milliseconds and one transaction decides it.
 * Every write happens inside `transaction`; what a callback throws rolls everything back and is thrown on.
 * Two processes may hold the same store open: a transaction sees and keeps all that others committed.
 */
export interface Store extends NoticeStore {
  /**
   * `ahead`: what `readUnlocked` returns in this transaction, by key; it was read before the store
   * was locked.
   */
  transaction<T>(work: () => T, ahead?: Map<string, unknown>): T
  inTransaction(): boolean
  /**
   * Inside a transaction, returns what `read` returns without holding the store's lock meanwhile:
   * the transaction is rolled back, `read` runs, and the transaction runs again with its result.
   * For files, which may be slow, while every other process waits for the lock. `key` names what is
   * read and everything it depends on, so that a result that was read for another state of the
   * store is not used. Outside of a transaction `read` simply runs.
   */
  readUnlocked<T>(key: string, read: () => T): T
  /**
   * Reads inside `work` may be older than what other processes wrote last: for guesses that a
   * transaction checks.
   */
  peek<T>(work: () => T): T
  /** Runs once the outermost transaction is committed, never if it fails: for what no rollback can undo. Outside one, at once. */
  afterCommit(work: () => void): void

  session(sessionId: string): SessionRecord | null
  sessions(query?: SessionQuery): SessionRecord[]
  /** Ids of the sessions seen at or after this ISO time. */
  seenSince(time: string): string[]
  /** Sessions of a seat, oldest first. */
  chain(seatId: string): SessionRecord[]
  putSession(record: SessionRecord): void

  seat(seatId: string): SeatRecord | null
  seatNamed(name: string): SeatRecord | null
  /** The newest seat of a process, so that `/clear` stays in its seat. */
  seatOfProcess(pid: number, startedAt: string): SeatRecord | null
  putSeat(record: SeatRecord): void

  subagents(sessionId: string): SubagentRecord[]
  putSubagent(record: SubagentRecord): void

  /** What the `reading` events of a session say, oldest first; with a limit the newest. */
  readings(sessionId: string, limit?: number): StoredReading[]

  addEvent(event: NewEvent): Event
  /** In the order of their ids. With a limit, the oldest that match when `afterId` is given, else the newest. */
  events(query?: EventQuery): Event[]

  putMessage(message: Message): void
  message(messageId: string): Message | null
  /** Those still to be given or confirmed, oldest first. */
  openMessages(seatId: string): Message[]
  messages(query?: { seatId?: string; limit?: number }): Message[]

  /**
   * False when this id was taken before: a signal replayed after a crash counts once. Forgotten
   * after a day, with `TOLD` after a year.
   */
  takeOnce(signalId: string, at: string): boolean

  /** The nearest switch for a session: its own, then its project's, then the one for all. null: never switched. */
  nearestSwitch(sessionId: string, project: string | null): boolean | null
  /** null: never switched. */
  switched(scope: SwitchScope, key: string): boolean | null
  /** Forgets switches nearer than this one that it covers: the last word wins. */
  clearSwitches(scope: 'session' | 'project', keys: readonly string[] | 'all'): void
  setSwitch(scope: SwitchScope, key: string, enabled: boolean, at: string): void

  /** null: nothing is known of it. */
  compaction(sessionId: string, startedAt: string): CompactionRecord | null
  /** Of one session, oldest first. */
  compactions(sessionId: string): CompactionRecord[]
  /** Those whose facts are still to be read. */
  openCompactions(): CompactionRecord[]
  /** Sessions with a compaction whose end is not told yet. */
  compacting(): string[]
  putCompaction(record: CompactionRecord): void
  /** Its end was told. */
  endCompaction(sessionId: string, startedAt: string): void
  /**
   * What is quoted anywhere here of a session's conversation goes, its briefs as others were given them included; that things happened stays.
   * Returns how many entries held words.
   */
  forgetWords(sessionId: string): number

  brief(briefId: string): BriefRecord | null
  /** Oldest first; of one seat in their sequence. */
  briefs(query?: HandoffQuery): BriefRecord[]
  /** Those a session was given, of whatever seat, in the order it was given them. */
  briefsUsedBy(sessionId: string): BriefRecord[]
  /** Throws when another brief of the seat has the same sequence. */
  putBrief(record: BriefRecord): void
  /** 1 for a seat's first brief; never one that was given before, also not that of a forgotten brief. Asked and used in one transaction. */
  nextBriefSequence(seatId: string): number
  /** Forgets the briefs of a session. Their files are another matter. */
  dropBriefs(sessionId: string): void

  handoff(handoffId: string): HandoffRecord | null
  /** In the order they were asked for, oldest first. */
  handoffs(query?: HandoffQuery): HandoffRecord[]
  /** Those neither done nor failed nor cancelled, oldest first. */
  openHandoffs(query?: { seatId?: string }): HandoffRecord[]
  /** Open ones whose time to be looked at again has come, the longest overdue first. */
  dueHandoffs(now: string): HandoffRecord[]
  /** The seat of a handoff never changes. */
  putHandoff(record: HandoffRecord): void

  job(jobId: string): JobRecord | null
  /** In the order they were asked for, oldest first; with a limit the newest. */
  jobs(query?: { limit?: number }): JobRecord[]
  /** Those neither completed nor failed nor cancelled, oldest first. */
  openJobs(): JobRecord[]
  /** Its seat never changes. */
  putJob(record: JobRecord): void
  /** With its attempts and the words of its events. */
  removeJob(jobId: string): void
  /** Of one job, in their order. */
  attempts(jobId: string): AttemptRecord[]
  /** The newest attempt of a session; null: no job ran it. */
  attemptOf(sessionId: string): AttemptRecord | null
  /** Throws when another attempt of the job has the same number. */
  putAttempt(record: AttemptRecord): void

  archive(archiveId: string): ArchiveRecord | null
  /** Oldest first. */
  archives(query?: ArchiveQuery): ArchiveRecord[]
  /** Those with something left to do: pending, to be tried again, or kept and not yet searchable. Oldest first. */
  openArchives(): ArchiveRecord[]
  /** Throws when another archive has the same stem. */
  putArchive(record: ArchiveRecord): void
  dropArchive(archiveId: string): void
  /** In the order of their streams and bytes. */
  segments(query?: { streamId?: string; sessionId?: string }): SegmentRecord[]
  putSegment(record: SegmentRecord): void
  dropSegment(file: string): void
  /** What is no longer named anywhere and still has to be removed outside the store. */
  leftovers(): string[]
  putLeftover(item: string): void
  dropLeftover(item: string): void

  /** False when a notice of this id is there already: that one stays as it is. */
  addNotice(record: NoticeRecord): boolean
  /**
   * Notices of plan limits that were stored or whose limit resets since a time, oldest first. Those
   * of jobs are left out.
   */
  limitNotices(since: string): NoticeRecord[]
  /** The newest notice to each target that was sent or given up, newest first. */
  lastDeliveries(): NoticeRecord[]

  /** Inside the transaction that keeps the session's new total. */
  addSpend(spent: SpendIncrement): void
  /** Oldest first. */
  spend(query: { fromQuarter: number }): SpendRow[]
  /** null: nothing was spent yet. */
  firstSpend(): number | null
  /** Compactions that ended and handoffs that arrived since a time, oldest first. */
  milestones(since: string): Event[]

  /**
   * Drops readings that are finer than their age deserves, old taken-once marks and old notices.
   * Returns the rows removed.
   */
  thin(now: Date): number
  sizes(): { sessions: number; readings: number; events: number; messages: number; notices: number; bytes: number }
  close(): void
}
