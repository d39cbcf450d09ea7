import type { ResolvedLevel } from '../contract/level.js'
import type { PolicySubject } from '../contract/policy-subject.js'
import type { NoticeData, NoticeKind, NoticeRecord, NotifyTarget } from '../contract/records/notice.js'
import type { Track } from '../contract/records/session.js'
import type { PlanLimit } from '../contract/signal.js'
import { percentOf } from './percent.js'
import { activityText, shortContextUseText } from './texts.js'

/** Content of a notice, before its targets are known. */
export interface NoticeContent {
  kind: NoticeKind
  text: string
  data: NoticeData
  /**
   * Identifies an event that several sessions see, so that each target gets it once.
   * Absent when every event counts on its own.
   */
  once?: string
  /** When to send, ISO 8601. Absent means at once. */
  dueAt?: string
}

/**
 * The session or job that a notice is about.
 * Its name is already one line without control characters.
 */
export interface NoticeOrigin {
  name: string
  subject: PolicySubject
  sessionId: string | null
  seatId: string | null
  jobId: string | null
  terminal: string | null
}

/**
 * Creates a record for each target that wants this kind.
 * `hash` derives the id of an event that is sent once from its target.
 * The id is visible to targets, and addresses and commands may contain passwords.
 */
export function noticesFor(
  content: NoticeContent,
  origin: NoticeOrigin,
  targets: readonly NotifyTarget[],
  { at, newId, hash }: { at: string; newId(): string; hash(text: string): string },
): NoticeRecord[] {
  return targets
    .filter(({ on }) => on.includes(content.kind))
    .map((target) => ({
      noticeId: `notice_${content.once === undefined ? newId() : hash(`${content.once} ${JSON.stringify(target)}`)}`,
      kind: content.kind,
      state: 'waiting',
      target,
      text: content.text,
      at,
      dueAt: content.dueAt ?? at,
      claimedAt: null,
      tries: 0,
      crashed: false,
      trouble: null,
      ...origin,
      data: content.data,
    }))
}

/**
 * Returns `api`, or `shop 1f2e3d4c` for a seat without a name, since sessions may share a folder.
 */
export function noticeName(seatName: string | null, project: string | null, sessionId: string): string {
  if (seatName !== null) return seatName
  const folder = project?.split('/').findLast((part) => part !== '') ?? 'session'
  return `${folder} ${sessionId.slice(0, 8)}`
}

export function levelNotice(track: Track, level: ResolvedLevel): NoticeContent {
  const { used, limits, cycle } = track
  return {
    kind: 'level',
    text: `${shortContextUseText(track)} (${level.name})`,
    data: {
      level: level.name,
      cycle,
      used_tokens: used,
      compaction_tokens: limits.point,
      window_tokens: limits.window,
      compaction_percent: percentOf(used, limits.point),
    },
  }
}

/** `dueAt`: when the brief is used without approval. Null when it waits for approval. */
export function reviewNotice(handoffId: string, briefId: string, dueAt: string | null): NoticeContent {
  const otherwise = dueAt === null ? '' : `, used without an answer at ${localTime(dueAt)}`
  return {
    kind: 'review',
    text: `a handoff brief waits for your review${otherwise}: baton handoffs approve ${shortBriefId(briefId)}`,
    data: { handoff_id: handoffId, brief_id: briefId, due_at: dueAt },
  }
}

/**
 * `subagent`: the dialog is about a call of a subagent, which does not change the session's state.
 */
export function permissionNotice(subagent: boolean): NoticeContent {
  return { kind: 'permission', text: 'waits for your permission', data: { subagent } }
}

export function silenceNotice(toolCalls: number, minutes: number): NoticeContent {
  return {
    kind: 'silence',
    text: `no context readings (${activityText(toolCalls, minutes)}): run baton doctor`,
    data: { tool_calls: toolCalls, minutes },
  }
}

interface EndedJob {
  state: 'completed' | 'failed' | 'cancelled' | 'paused'
  exitReason: string | null
  handoffs: number
  durationMs: number
}

/** Describes the end of a job without the job's own text, which may quote the conversation. */
export function jobNotice({ state, exitReason, handoffs, durationMs }: EndedJob): NoticeContent {
  const why = exitReason === null || state === 'completed' || exitReason === state ? '' : ` (${exitReason})`
  return {
    kind: 'job',
    text: `${state} ${state === 'completed' ? 'in' : 'after'} ${lengthText(durationMs)}${why}`,
    data: { state, exit_reason: exitReason, handoffs, duration_ms: durationMs },
  }
}

const LIMIT_NAMES: Record<string, string> = {
  five_hour: 'Five-hour limit',
  seven_day: 'Seven-day limit',
  spend_limit: 'Spend limit',
}

/** Sessions may round the same reset differently, so times within ten minutes are one reset. */
const SAME_RESET_MS = 600_000
/** A limit without a known reset causes another notice after this time. */
export const LIMIT_NOTICE_REPEAT_MS = 3_600_000

type ReachedLimit = Pick<PlanLimit, 'name' | 'resetsAt'>

/**
 * Returns the notices of a plan limit that is used up: one now, and one at its reset if known.
 * All sessions of the plan see the same limit, so each target gets them once for all sessions.
 * `stored`: limit notices of the last hour, and those of limits that are still open.
 */
export function limitNotices(reached: ReachedLimit, at: string, stored: readonly NoticeRecord[] = []): NoticeContent[] {
  const { name, resetsAt: reset, since } = sameLimit(reached, at, stored)
  const limit = LIMIT_NAMES[name] ?? 'Usage limit'
  const about = { limit: name, resets_at: reset }
  const now: NoticeContent = {
    kind: 'limit',
    text: `${limit} reached${reset === null ? '' : `, resets at ${localTime(reset, at)}`}`,
    data: { ...about, moment: 'reached' },
    once: `limit ${name} ${reset ?? since} reached`,
  }
  if (reset === null) return [now]
  const over: NoticeContent = {
    kind: 'limit',
    text: `${limit} has reset`,
    data: { ...about, moment: 'reset' },
    once: `limit ${name} ${reset} reset`,
    dueAt: reset,
  }
  return [now, over]
}

/**
 * Returns the limit with the name and time under which another session stored it first.
 * `usage` comes from a client that does not name the limit: it means the named one that is open.
 */
function sameLimit(
  { name, resetsAt }: ReachedLimit,
  at: string,
  stored: readonly NoticeRecord[],
): ReachedLimit & { since: string } {
  const known = stored
    .filter(({ data, jobId }) => jobId === null && data.moment === 'reached')
    .map(({ data, at: since }) => ({ name: String(data.limit), resetsAt: data.resets_at as string | null, since }))
  const isOpen = (limit: ReachedLimit): boolean => limit.resetsAt !== null && limit.resetsAt > at
  const isRecent = (limit: { since: string }): boolean => apartMs(limit.since, at) < LIMIT_NOTICE_REPEAT_MS
  const reset = resetsAt !== null && resetsAt > at ? resetsAt : null
  const same = known.find((limit) => {
    if (reset !== null)
      return limit.name === name && limit.resetsAt !== null && apartMs(limit.resetsAt, reset) <= SAME_RESET_MS
    if (name === 'usage' && limit.name !== name) return isOpen(limit)
    return limit.name === name && (isOpen(limit) || (limit.resetsAt === null && isRecent(limit)))
  })
  return same ?? { name, resetsAt: reset, since: at }
}

const apartMs = (one: string, other: string): number => Math.abs(Date.parse(one) - Date.parse(other))

/** Returns the notices of a job that waits for the end of a limit and then continues by itself. */
export function jobLimitNotices(jobId: string, until: string, at: string): NoticeContent[] {
  const about = { limit: 'usage', resets_at: until }
  const row = `limit ${jobId} ${until}`
  return [
    {
      kind: 'limit',
      text: `usage limit reached, continues at ${localTime(until, at)}`,
      data: { ...about, moment: 'reached' },
      once: `${row} reached`,
    },
    {
      kind: 'limit',
      text: 'continues after the usage limit',
      data: { ...about, moment: 'reset' },
      once: `${row} reset`,
      dueAt: until,
    },
  ]
}

/**
 * Text that follows a reached limit.
 * `continues` is null when the client's settings do not say what it does.
 */
export function limitEnding(continues: boolean | null): string {
  if (continues === null) return ''
  return continues ? '; the client continues by itself' : '; the client asks you what to do'
}

/**
 * Returns the line that is sent. Several notices make one line, newest first.
 * `notices` are given oldest first.
 */
export function noticeLine(notices: readonly Pick<NoticeRecord, 'name' | 'text' | 'kind' | 'jobId'>[]): string {
  const lines = notices.toReversed().map(({ kind, name, text, jobId }) => {
    if (kind === 'job') return `job ${name} ${text}`
    if (kind === 'limit' && jobId === null) return text
    return jobId === null ? `${name}: ${text}` : `job ${name}: ${text}`
  })
  if (lines.length <= MOST_TOGETHER) return lines.join(' · ')
  return `${lines.slice(0, MOST_TOGETHER).join(' · ')} · and ${lines.length - MOST_TOGETHER} more`
}

const MOST_TOGETHER = 3

/** Shortens a brief id to the first characters of its random part, which commands accept. */
export function shortBriefId(briefId: string): string {
  return briefId.replace(/^brief_/, '').slice(0, 8)
}

/** Formats a local time, with the date when it is on another day: `14:05`, `21 Nov 14:05`. */
function localTime(iso: string, at: string = iso): string {
  const [then, now] = [new Date(iso), new Date(at)]
  const time = [then.getHours(), then.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
  const isSameDay = then.getDate() === now.getDate() && Math.abs(then.getTime() - now.getTime()) < DAY_MS
  return isSameDay ? time : `${then.getDate()} ${MONTHS[then.getMonth()]} ${time}`
}

const DAY_MS = 24 * 3_600_000
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function lengthText(ms: number): string {
  if (ms < 90_000) return `${Math.max(1, Math.round(ms / 1_000))} s`
  return ms < 5_400_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 360_000) / 10} h`
}
