import type { SessionRecord } from '../contract/record.js'
import type { Store, SwitchScope } from '../store/store.js'
import { rearm } from '../tracker/tracker.js'
import type { Parts } from './draft.js'

/** The nearest switch decides: the session's, then its project's, then the one for all, then the configuration. */
export function isEnabled(store: Store, record: Pick<SessionRecord, 'sessionId' | 'project'>, configured: boolean): boolean {
  return store.nearestSwitch(record.sessionId, record.project) ?? configured
}

/** Switching on opens the latches of every session it concerns; switching off cancels what still waits to be told. */
export function setEnabled(
  { store, outbox }: Pick<Parts, 'store' | 'outbox'>,
  scope: SwitchScope,
  key: string,
  enabled: boolean,
  at: string,
): void {
  store.transaction(() => {
    store.setSwitch(scope, key, enabled, at)
    for (const record of concerned(store, scope, key)) {
      if (enabled) store.putSession({ ...record, track: rearm(record.track) })
      else {
        outbox.collect(record.sessionId)
        cancelWaiting(store, record, at, 'Baton was switched off')
      }
    }
  })
}

function concerned(store: Store, scope: SwitchScope, key: string): SessionRecord[] {
  if (scope === 'all') return store.sessions()
  if (scope === 'project') return store.sessions({ project: key })
  const record = store.session(key)
  return record ? [record] : []
}

export function cancelWaiting(store: Store, record: SessionRecord, at: string, reason: string): void {
  for (const message of store.openMessages(record.seatId)) {
    if (message.status !== 'queued' || message.sender !== 'baton' || message.session_id !== record.sessionId) continue
    store.putMessage({ ...message, status: 'cancelled' })
    store.addEvent({
      type: 'message_cancelled',
      at,
      session_id: record.sessionId,
      seat_id: record.seatId,
      job_id: record.jobId,
      data: { message_id: message.message_id, reason },
    })
  }
}
