import type { HandoffRecord } from '../contract/records/handoff.js'
import type { JobRecord } from '../contract/records/job.js'
import type { NoticeRecord, NotifyTarget } from '../contract/records/notice.js'
import type { SessionRecord } from '../contract/records/session.js'

/** Longer than any try takes: a command has 30 s and is then ended. */
const LEASE_MS = 90_000
/** Pauses after the first, second and third failed try; the fourth is the last. */
const BACKOFF_MS = [5_000, 30_000, 120_000]
const MOST_TRIES = BACKOFF_MS.length + 1
/** A notice that nobody came to send in this time is out of date. */
const LATEST_MS = 3_600_000

interface DuePlan {
  /** Claimed: each inner list goes to its target as one notice. */
  send: NoticeRecord[][]
  /** Held back, given up or dropped, as they are to be stored. */
  settled: NoticeRecord[]
}

interface DueCircumstances {
  now: Date
  /** See `NoticeStore.lastNoticeAt`: leaves out the claims of senders that died. */
  lastAt(target: NotifyTarget, kind: NoticeRecord['kind']): string | null
  /** Why nobody has to be told any more; null: it still holds. */
  outdated(notice: NoticeRecord): string | null
}

/**
 * Decides about the notices that are due. Those of one target and kind go together. They wait until
 * `at_most_every` has passed since the last ones, so that none is lost by the limit.
 */
export function planDue(due: readonly NoticeRecord[], circumstances: DueCircumstances): DuePlan {
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

/** Sorts by time. Among notices of the same moment, the one that was stored last is the newest. */
const newestFirst = (due: readonly NoticeRecord[]): NoticeRecord[] =>
  [...due].reverse().sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))

/**
 * Returns the notice as it ends, or null when it is to be sent. `newer`: of its target and kind.
 */
function settle(
  notice: NoticeRecord,
  newer: readonly NoticeRecord[],
  { now, outdated }: DueCircumstances,
): NoticeRecord | null {
  if (notice.state === 'sending' && notice.crashed) return failed(notice, 'the process that sent it died, twice')
  if (notice.tries >= MOST_TRIES) return failed(notice, notice.trouble ?? 'the process that sent it died')
  if (now.getTime() - Date.parse(notice.dueAt ?? notice.at) > LATEST_MS)
    return dropped(notice, 'nobody came to send it within an hour')
  const reason = outdated(notice)
  if (reason !== null) return dropped(notice, reason)
  const isReplaced = newer.some((one) => one.sessionId === notice.sessionId && one.jobId === notice.jobId)
  return isReplaced && REPLACED_BY_NEWER.has(notice.kind) ? dropped(notice, 'a newer one says more') : null
}

/** Kinds of which only the newest notice of a session matters. */
const REPLACED_BY_NEWER = new Set<NoticeRecord['kind']>(['level', 'review', 'permission', 'silence'])

/** A notice that is due while it is being sent has a sender that died. */
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

const failed = (notice: NoticeRecord, reason: string): NoticeRecord => ({
  ...notice,
  state: 'failed',
  dueAt: null,
  trouble: reason,
})

export function dropped(notice: NoticeRecord, reason: string): NoticeRecord {
  return { ...notice, state: 'dropped', dueAt: null, trouble: reason }
}

/** Outcome of one try. */
export type SendOutcome =
  | { result: 'sent' }
  /** `retryable`: another try may help. */
  | { result: 'failed'; reason: string; retryable: boolean }
  /** There is nobody to tell, such as a session without a terminal for `bell`. */
  | { result: 'no-recipient'; reason: string }

export function afterTry(notice: NoticeRecord, outcome: SendOutcome, now: Date): NoticeRecord {
  if (outcome.result === 'sent') return { ...notice, state: 'sent', dueAt: null, trouble: null }
  if (outcome.result === 'no-recipient') return dropped(notice, outcome.reason)
  if (!outcome.retryable || notice.tries >= MOST_TRIES) return failed(notice, outcome.reason)
  return waitUntil({ ...notice, trouble: outcome.reason }, now.getTime() + BACKOFF_MS[notice.tries - 1]!)
}

/** The records that a notice speaks of, as they are now; null: there is none. */
interface NoticeFacts {
  session: SessionRecord | null
  handoff: HandoffRecord | null
  job: JobRecord | null
}

const STOPPED = new Set<JobRecord['state']>(['paused', 'completed', 'failed', 'cancelled'])

/** Why nobody has to be told any more; null: the notice still holds. */
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
