import { describeTarget, type NoticeRecord, type NoticeStore } from '../../contract/records/notice.js'
import { reasonOf } from '../../lib/errors.js'
import { faultPoint } from '../../lib/fault-point.js'
import type { Log } from '../../lib/log.js'
import {
  dropNotice,
  planDueNotices,
  recordOutcome,
  type SendOutcome,
  whyOutdated,
} from '../../policy/notice-schedule.js'
import { limitEnding, noticeLine } from '../../policy/notice-text.js'
import type { FolderWatch } from '../channels/changes.js'
import { type SendPlace, sendNotice } from './send-notice.js'

/** Dependencies of a process that sends notices. */
export interface SenderContext extends SendPlace {
  store: NoticeStore
  now(): Date
  log: Log
  /**
   * Returns whether the current configuration still names the target for the subject of the notice.
   */
  isConfigured(notice: NoticeRecord): boolean
  /** Returns whether the client continues by itself after a usage limit. Null when not known. */
  continues(notice: NoticeRecord): boolean | null
  /** Wakes at changes of the store, because another process may have stored a notice. */
  changes: FolderWatch
  /** Returns whether a server runs. A server sends due notices itself. */
  isServed(): Promise<boolean>
  /** Starts a process that sends notices again at this time (ISO). */
  wakeAt(time: string): void
}

/** This process does not wait for a notice that is due later than this. */
const STAY_MS = 5 * 60_000
const LOOK_MS = 1_000

/**
 * Sends every due notice, waits for the retries of its own, and returns.
 * Any number of processes may do this at once: each notice is claimed in a transaction.
 */
export async function sendNotices(context: SenderContext): Promise<void> {
  const own = new Set<string>()
  const running = new Set<Promise<void>>()
  let changed: Promise<void> | null = null
  try {
    for (;;) {
      for (const notices of claimDue(context, own)) {
        const sending = sendClaimed(context, notices)
        running.add(sending)
        void sending.then(() => running.delete(sending))
      }
      const next = nextOwn(context, own)
      const restMs = next === null ? null : Date.parse(next) - context.now().getTime()
      if (running.size === 0 && (restMs === null || restMs > STAY_MS)) break
      if (running.size === 0 && restMs! <= 0) continue
      const ms = Math.min(LOOK_MS, Math.max(1, restMs ?? LOOK_MS))
      changed ??= context.changes.next(ms, 10).then(() => {
        changed = null
      })
      await Promise.race([...running, changed])
    }
  } finally {
    // The caller exits the process, so a store error must not cut off running sends.
    await Promise.allSettled(running)
  }
  await askForWaking(context)
}

/** Claims due notices in one transaction. Adds claimed and postponed ones to `own`. */
function claimDue({ store, now, log }: SenderContext, own: Set<string>): NoticeRecord[][] {
  // Check before taking the write lock, because every change in the store's folder leads here.
  if (store.dueNotices(now().toISOString()).length === 0) return []
  const claimed = store.transaction(() => {
    const at = now()
    const plan = planDueNotices(store.dueNotices(at.toISOString()), {
      now: at,
      lastAt: (target, kind) => store.lastNoticeAt(target, kind, at.toISOString()),
      outdated: (notice) =>
        whyOutdated(notice, {
          session: notice.sessionId === null ? null : store.session(notice.sessionId),
          handoff: typeof notice.data.handoff_id === 'string' ? store.handoff(notice.data.handoff_id) : null,
          job: notice.jobId === null ? null : store.job(notice.jobId),
        }),
    })
    for (const notice of [...plan.settled, ...plan.send.flat()]) store.putNotice(notice)
    return plan
  })
  for (const notice of claimed.settled) {
    if (notice.dueAt !== null) own.add(notice.noticeId)
    else logEnd(log, notice)
  }
  for (const { noticeId } of claimed.send.flat()) own.add(noticeId)
  return claimed.send
}

/**
 * Sends claimed notices and stores the result.
 * Never rejects, so that one failure does not affect the other sends.
 * A notice without a stored result is tried again after its lease, as after a crash.
 */
async function sendClaimed(context: SenderContext, claimed: readonly NoticeRecord[]): Promise<void> {
  try {
    await sendWanted(context, claimed)
  } catch (error) {
    const { target, kind } = claimed[0]!
    const about = { to: describeTarget(target), kind, reason: reasonOf(error) }
    context.log('error', 'the result of sending a notice could not be stored', about)
  }
}

async function sendWanted(context: SenderContext, claimed: readonly NoticeRecord[]): Promise<void> {
  faultPoint('NOTICE_CLAIMED')
  const wanted = claimed.filter(context.isConfigured)
  for (const notice of claimed)
    if (!wanted.includes(notice))
      keep(context, notice, dropNotice(notice, 'its target is no longer in the configuration'))
  if (wanted.length === 0) return
  const outcome = await sendNotice(wanted, textOf(context, wanted), context).catch(
    (error: unknown): SendOutcome => ({ result: 'failed', reason: reasonOf(error), retryable: true }),
  )
  faultPoint('NOTICE_SENT')
  for (const notice of wanted) keep(context, notice, recordOutcome(notice, outcome, context.now()))
}

function textOf(context: SenderContext, notices: readonly NoticeRecord[]): string {
  const whole = notices.map((notice) =>
    notice.kind === 'limit' && notice.jobId === null && notice.data.moment === 'reached'
      ? { ...notice, text: `${notice.text}${limitEnding(context.continues(notice))}` }
      : notice,
  )
  return noticeLine(whole)
}

/** Stores the result of a try, unless another process has claimed the notice meanwhile. */
function keep({ store, log }: SenderContext, claimed: NoticeRecord, after: NoticeRecord): void {
  const isOurs = store.transaction(() => {
    if (store.notice(claimed.noticeId)?.claimedAt !== claimed.claimedAt) return false
    store.putNotice(after)
    return true
  })
  if (isOurs) logEnd(log, after)
}

function logEnd(log: Log, { state, kind, target, tries, trouble, dueAt }: NoticeRecord): void {
  const about = { to: describeTarget(target), kind, tries }
  if (state === 'sent') log('debug', 'a notice was sent', about)
  else if (state === 'dropped') log('debug', 'a notice was dropped', { ...about, reason: trouble })
  else if (state === 'failed')
    log('error', `a notice could not be sent after ${triesText(tries)}`, { ...about, reason: trouble })
  else log('warn', 'a notice could not be sent and will be retried', { ...about, reason: trouble, at: dueAt })
}

const triesText = (tries: number): string => `${tries} ${tries === 1 ? 'try' : 'tries'}`

function nextOwn({ store }: SenderContext, own: Set<string>): string | null {
  let next: string | null = null
  for (const id of own) {
    const dueAt = store.notice(id)?.dueAt ?? null
    if (dueAt === null) own.delete(id)
    else if (next === null || dueAt < next) next = dueAt
  }
  return next
}

/**
 * Starts one process that waits for the next due notice, such as the reset of a limit.
 * A running server sends due notices itself, so none is started then.
 */
async function askForWaking({ store, now, isServed, wakeAt }: SenderContext): Promise<void> {
  const next = store.nextNoticeAt()
  // A process that waits for a retry also handles notices that are due sooner.
  if (next === null || Date.parse(next) - now().getTime() <= STAY_MS) return
  if (await isServed()) return
  // The mark has the due time as its date, so that it is kept until then (see `thinOut`).
  const isFirst = store.transaction(() => store.claimOnce(`notify-wake.${next}`, next))
  if (isFirst) wakeAt(next)
}
