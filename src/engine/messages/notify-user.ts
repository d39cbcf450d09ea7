import type { NotifyTarget } from '../../contract/records/notice.js'
import { sanitizeName } from '../../lib/quote.js'
import { type NoticeContent, type NoticeOrigin, noticeName, noticesFor } from '../../policy/notice-text.js'
import type { EngineDependencies } from '../context.js'
import type { PolicyContext } from '../session-context.js'

/** Stores notices about a session for the targets in its configuration (see `storeNotices`). */
export function notifyUser(
  context: Omit<PolicyContext, 'takesOrders' | 'events' | 'agent'>,
  contents: readonly NoticeContent[],
): void {
  const { deps, record, policy, enabled, seatName, at } = context
  if (!enabled || policy.notify.length === 0 || record.jobId !== null) return
  const { sessionId, seatId, agent, project, model } = record
  const origin = {
    name: sanitizeName(noticeName(seatName, project, sessionId)),
    subject: { agent, project, model, seat: seatName ?? seatId },
    sessionId,
    seatId,
    jobId: null,
    terminal: null,
  }
  storeNotices(deps, { ...origin, at }, policy.notify, contents)
}

/**
 * Stores notices in the transaction of their event. `at` is the time of that event.
 * Another process sends the notices, so no answer to a client waits for a target.
 */
export function storeNotices(
  { store, newId, leaveWork }: Pick<EngineDependencies, 'store' | 'newId' | 'leaveWork'>,
  { at, ...origin }: NoticeOrigin & { at: string },
  targets: readonly NotifyTarget[],
  contents: readonly NoticeContent[],
): void {
  const notices = contents.flatMap((content) => noticesFor(content, origin, targets, { at, newId, hash }))
  const stored = notices.filter((notice) => store.addNotice(notice))
  if (stored.length > 0) store.afterCommit(() => leaveWork('notice'))
}

/** Loads node:crypto when it is needed: importing it costs a hook two milliseconds. */
function hash(text: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
