import type { PolicySubject } from '../policy-subject.js'
import type { HandoffRecord } from './handoff.js'
import type { JobRecord } from './job.js'
import type { SessionRecord } from './session.js'

/** Events that the user can be told of outside the client. */
export const NOTICE_KINDS = ['level', 'review', 'permission', 'job', 'limit', 'silence'] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

export const NOTIFY_WAYS = ['bell', 'desktop', 'command', 'webhook', 'ntfy'] as const
export type NotifyWay = (typeof NOTIFY_WAYS)[number]

/** An entry of `notify`, with every default filled in. */
export interface NotifyTarget {
  via: NotifyWay
  on: NoticeKind[]
  /** The shell command of `command`; null for every other way. */
  command: string | null
  /** The address of `webhook` and `ntfy`; null for every other way. */
  url: string | null
  /** The least time between two notices of one kind. */
  everyMs: number
}

/** Configuration gives equal entries the same order of keys, see `targetOf`. */
export function sameTarget(one: NotifyTarget, other: NotifyTarget): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** A target as logs and people are told of it: the path of an address may be a secret. */
export function describeTarget({ via, command, url }: NotifyTarget): string {
  if (command !== null) return `command \`${command.length > 60 ? `${command.slice(0, 59)}…` : command}\``
  return url === null ? via : `${via} ${new URL(url).host}`
}

/**
 * The states of one notice on its way to one target. Each is stored before anything is done about
 * it.
 *
 * waiting  it is sent once `dueAt` has come: at once, after the pause of `at_most_every`, or after
 *          the backoff of a failed try
 * sending  a process sends it. If that process dies, another one may try again after `dueAt`, once
 * sent     the target took it
 * failed   given up after a few tries; `trouble` says why
 * dropped  nobody had to be told any more; `trouble` says why
 */
export const NOTICE_STATES = ['waiting', 'sending', 'sent', 'failed', 'dropped'] as const
export type NoticeState = (typeof NOTICE_STATES)[number]

/** Everything the store keeps of one notice to one target. Holds no text of a conversation. */
export interface NoticeRecord {
  /** An event that several processes see gives the same id, so it is stored once. */
  noticeId: string
  /** `test`: sent by `baton notify test`. */
  kind: NoticeKind | 'test'
  state: NoticeState
  target: NotifyTarget
  /** A single line, without the name of the session or job. */
  text: string
  /** The seat's given name, else project folder and short session id; of a job its name. */
  name: string
  /** When the event happened. */
  at: string
  /** When somebody has to look at it again; null: never, it is over. */
  dueAt: string | null
  /** When the newest try began; null: none did. */
  claimedAt: string | null
  /** Tries that were begun, stored before each. */
  tries: number
  /** True: the process of an earlier try died before it stored a result. */
  crashed: boolean
  /** Why the newest try failed, or why it was dropped; null: neither. */
  trouble: string | null
  /** Selects the configuration: a target that it does not name any more is not used. */
  subject: PolicySubject
  sessionId: string | null
  seatId: string | null
  jobId: string | null
  /**
   * The terminal that `bell` rings; null: that of the session's client, looked up when it is sent.
   */
  terminal: string | null
  /** Numbers and names for programs, by kind. */
  data: NoticeData
}

/** Facts for programs, sent with the text. Keys as in every JSON of Baton. */
export type NoticeData = Record<string, string | number | boolean | null>

/** The part of the store that the delivery of notices needs. */
export interface NoticeStore {
  transaction<T>(work: () => T): T
  takeOnce(id: string, at: string): boolean
  /** Those that wait and whose time has come, and those whose sender has died. Oldest first. */
  dueNotices(now: string): NoticeRecord[]
  /** When the next one is due; null: none is. */
  nextNoticeAt(): string | null
  /**
   * When a notice of this kind was last sent to this target, or is being sent; null: never. A claim
   * whose lease is over by `now` does not count: its sender died.
   */
  lastNoticeAt(target: NotifyTarget, kind: NoticeRecord['kind'], now: string): string | null
  notice(noticeId: string): NoticeRecord | null
  putNotice(record: NoticeRecord): void
  session(sessionId: string): SessionRecord | null
  handoff(handoffId: string): HandoffRecord | null
  job(jobId: string): JobRecord | null
}
