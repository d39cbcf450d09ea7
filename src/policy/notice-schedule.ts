import type { HandoffRecord } from '../contract/records/handoff.js'
import type { JobRecord } from '../contract/records/job.js'
import type { NoticeRecord, NotifyTarget } from '../contract/records/notice.js'
import type { SessionRecord } from '../contract/records/session.js'

/** Longer than any try can take: a command is killed after 30 s. */
const LEASE_MS = 90_000
/** Pauses after the first, second and third failed try. The fourth try is the last. */
const BACKOFF_MS = [5_000, 30_000, 120_000]
const MOST_TRIES = BACKOFF_MS.length + 1
/** A notice that was not sent within this time is outdated. */
const LATEST_MS = 3_600_000

/** The decision about notices that are due. */
interface DuePlan {
  /** Claimed notices. Each inner list is sent to its target as one notice. */
  send: NoticeRecord[][]
  /** Delayed, failed and dropped notices, as they are to be stored. */
  settled: NoticeRecord[]
}

/** Everything besides the notices that the plan depends on. */
interface PlanContext {
  now: Date
  /** See `NoticeStore.lastNoticeAt`: claims of senders that died do not count. */
  lastAt(target: NotifyTarget, kind: NoticeRecord['kind']): string | null
  /** Returns why a notice is no longer needed. Null when it is. */
  outdated(notice: NoticeRecord): string | null
}

/**
 * Plans the notices that are due. Notices of one target and kind are sent together.
 * They wait until `at_most_every` has passed since the last one, so the limit loses none.
 */
export function planDueNotices(due: readonly NoticeRecord[], circumstances: PlanContext): DuePlan {
  const { now, lastAt } = circumstances
  const settled: NoticeRecord[] = []
  const groups = new Map<string, NoticeRecord[]>()
  for (const notice of newestFirst(due)) {
    const key = `${notice.kind} ${JSON.stringify(notice.target)}`
    const group = groups.get(key) ?? []
    const over = settle(notice, group, circumstances)
    if (over !== null) settled.push(over)
    else groups.set(key, [...group, notice])
  }
  const send: NoticeRecord[][] = []
  for (const group of groups.values()) {
    const { target, kind } = group[0]!
    const last = lastAt(target, kind)
    const free = last === null ? 0 : Date.parse(last) + target.everyMs
    if (free > now.getTime()) settled.push(...group.map((notice) => waitUntil(noteCrash(notice), free)))
    else send.push(group.reverse().map((notice) => claim(notice, now)))
  }
  return { send, settled }
}

/** Sorts by time, newest first. Of notices with the same time, the last stored is the newest. */
const newestFirst = (due: readonly NoticeRecord[]): NoticeRecord[] =>
  [...due].reverse().sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))

/**
 * Returns the notice in its final state. Null when it is to be sent.
 * `newer`: newer notices of the same target and kind.
 */
function settle(
  notice: NoticeRecord,
  newer: readonly NoticeRecord[],
  { now, outdated }: PlanContext,
): NoticeRecord | null {
  if (notice.state === 'sending' && notice.crashed) return failNotice(notice, 'the process that sent it died, twice')
  if (notice.tries >= MOST_TRIES) return failNotice(notice, notice.trouble ?? 'the process that sent it died')
  if (now.getTime() - Date.parse(notice.dueAt ?? notice.at) > LATEST_MS)
    return dropNotice(notice, 'no process sent it within an hour')
  const reason = outdated(notice)
  if (reason !== null) return dropNotice(notice, reason)
  const isReplaced = newer.some((one) => one.sessionId === notice.sessionId && one.jobId === notice.jobId)
  return isReplaced && REPLACED_BY_NEWER.has(notice.kind) ? dropNotice(notice, 'a newer notice replaced it') : null
}

/** Kinds for which only the newest notice of a session matters. */
const REPLACED_BY_NEWER = new Set<NoticeRecord['kind']>(['level', 'review', 'permission', 'silence'])

/** Records a crash: a notice that is due while it is being sent has a dead sender. */
function noteCrash(notice: NoticeRecord): NoticeRecord {
  return { ...notice, crashed: notice.crashed || notice.state === 'sending' }
}

function claim(notice: NoticeRecord, now: Date): NoticeRecord {
  return {
    ...noteCrash(notice),
    state: 'sending',
    tries: notice.tries + 1,
    claimedAt: now.toISOString(),
    dueAt: new Date(now.getTime() + LEASE_MS).toISOString(),
  }
}

const waitUntil = (notice: NoticeRecord, ms: number): NoticeRecord => ({
  ...notice,
  state: 'waiting',
  dueAt: new Date(ms).toISOString(),
})

const failNotice = (notice: NoticeRecord, reason: string): NoticeRecord => ({
  ...notice,
  state: 'failed',
  dueAt: null,
  trouble: reason,
})

export function dropNotice(notice: NoticeRecord, reason: string): NoticeRecord {
  return { ...notice, state: 'dropped', dueAt: null, trouble: reason }
}

/** Outcome of one try. */
export type SendOutcome =
  | { result: 'sent' }
  /** `retryable`: another try may succeed. */
  | { result: 'failed'; reason: string; retryable: boolean }
  /** No recipient exists, for example when `bell` has no terminal to ring. */
  | { result: 'no-recipient'; reason: string }

/** Returns the notice after one try: sent, dropped, failed, or waiting for the next try. */
export function recordOutcome(notice: NoticeRecord, outcome: SendOutcome, now: Date): NoticeRecord {
  if (outcome.result === 'sent') return { ...notice, state: 'sent', dueAt: null, trouble: null }
  if (outcome.result === 'no-recipient') return dropNotice(notice, outcome.reason)
  if (!outcome.retryable || notice.tries >= MOST_TRIES) return failNotice(notice, outcome.reason)
  return waitUntil({ ...notice, trouble: outcome.reason }, now.getTime() + BACKOFF_MS[notice.tries - 1]!)
}

/** The current records that a notice is about. Null when there is no such record. */
interface NoticeFacts {
  session: SessionRecord | null
  handoff: HandoffRecord | null
  job: JobRecord | null
}

const STOPPED = new Set<JobRecord['state']>(['paused', 'completed', 'failed', 'cancelled'])

/** Returns why a notice is no longer needed. Null when it still is. */
export function whyOutdated(notice: NoticeRecord, { session, handoff, job }: NoticeFacts): string | null {
  switch (notice.kind) {
    case 'level':
      return session?.track.cycle === notice.data.cycle ? null : 'its session was cleared or compacted'
    case 'permission':
      return notice.data.subagent === true || session?.state === 'waiting' ? null : 'its dialog was answered'
    case 'review':
      return handoff?.state === 'review' ? null : 'its review is over'
    case 'silence':
      return session?.silence.alarmed ? null : 'readings arrive again'
    case 'limit':
      return job !== null && STOPPED.has(job.state) ? 'its job has stopped' : null
    case 'job':
    case 'test':
      return null
  }
}
