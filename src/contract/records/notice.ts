import type { PolicySubject } from '../policy-subject.js'
import type { HandoffRecord } from './handoff.js'
import type { JobRecord } from './job.js'
import type { SessionRecord } from './session.js'

/** Events for which the user can be notified outside the client. */
export const NOTICE_KINDS = ['level', 'review', 'permission', 'job', 'limit', 'silence'] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** Ways to notify the user. */
export const NOTIFY_WAYS = ['bell', 'desktop', 'command', 'webhook', 'ntfy'] as const
export type NotifyWay = (typeof NOTIFY_WAYS)[number]

/** An entry of `notify` with every default filled in. */
export interface NotifyTarget {
  via: NotifyWay
  on: NoticeKind[]
  /** The shell command of `command`. Null for every other way. */
  command: string | null
  /** The address of `webhook` and `ntfy`. Null for every other way. */
  url: string | null
  /** Minimum time between two notices of one kind, in milliseconds. */
  everyMs: number
}

/** Compares two targets. Their keys have the same order, because `toNotifyTarget` builds them. */
export function sameTarget(one: NotifyTarget, other: NotifyTarget): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Describes a target for logs and users, without an address's path, which may be a secret. */
export function describeTarget({ via, command, url }: NotifyTarget): string {
  if (command !== null) return `command \`${command.length > 60 ? `${command.slice(0, 59)}…` : command}\``
  return url === null ? via : `${via} ${new URL(url).host}`
}

/**
 * The states of one notice to one target. Each is stored before it is acted on.
 *
 * waiting  is sent at `dueAt`, which includes the pause of `at_most_every` or a backoff
 * sending  a process sends it; if that process dies, another one may retry once after `dueAt`
 * sent     the target accepted it
 * failed   every try failed; `trouble` says why
 * dropped  the notice was no longer needed; `trouble` says why
 */
const NOTICE_STATES = ['waiting', 'sending', 'sent', 'failed', 'dropped'] as const
type NoticeState = (typeof NOTICE_STATES)[number]

/** The stored record of one notice to one target. Contains no conversation text. */
export interface NoticeRecord {
  /** Id derived from the event, so that several processes that see the event store one notice. */
  noticeId: string
  /** `test`: sent by `baton notify test`. */
  kind: NoticeKind | 'test'
  state: NoticeState
  target: NotifyTarget
  /** A single line of text without the name of the session or job. */
  text: string
  /** Name of the seat (terminal or job), or else the project folder and a short session id. */
  name: string
  /** When the event happened. */
  at: string
  /** When the notice is processed next. Null when it is finished. */
  dueAt: string | null
  /** When the latest try to send the notice began. Null before the first. */
  claimedAt: string | null
  /** Number of tries to send the notice, counted before each. */
  tries: number
  /** True when the process of an earlier try died before it stored a result. */
  crashed: boolean
  /** Why the latest try failed, or why the notice was dropped. Null when it did neither. */
  trouble: string | null
  /** Selects the configuration. A target that the configuration no longer names is not used. */
  subject: PolicySubject
  /** The session, seat (terminal) or job of the notice. Null for each it is not about. */
  sessionId: string | null
  seatId: string | null
  jobId: string | null
  /** The terminal that `bell` rings. Null for the terminal of the session's client at that time. */
  terminal: string | null
  /** Numbers and names for programs, by kind. */
  data: NoticeData
}

/** Data for programs, sent with the text. Keys are snake_case, as in all JSON of Baton. */
export type NoticeData = Record<string, string | number | boolean | null>

/** The part of the store that the delivery of notices needs. */
export interface NoticeStore {
  transaction<T>(work: () => T): T
  /** Returns true for the first caller with this id and false for every later one. */
  claimOnce(id: string, at: string): boolean
  /** Notices whose time has come, and notices whose sender has died. Oldest first. */
  dueNotices(now: string): NoticeRecord[]
  /** When the next notice is due. Null when none is. */
  nextNoticeAt(): string | null
  /**
   * When a notice of this kind was last sent to this target, or is being sent. Null when never.
   * A claimed notice whose time ended before `now` does not count, because its sender died.
   */
  lastNoticeAt(target: NotifyTarget, kind: NoticeRecord['kind'], now: string): string | null
  notice(noticeId: string): NoticeRecord | null
  putNotice(record: NoticeRecord): void
  session(sessionId: string): SessionRecord | null
  handoff(handoffId: string): HandoffRecord | null
  job(jobId: string): JobRecord | null
}
