import type { SessionRecord } from '../contract/record.js'
import type { Store, SwitchScope } from '../store/store.js'
import { rearm } from '../tracker/tracker.js'
import type { Parts } from './draft.js'
import { cancelStale } from './messages.js'

/** The nearest switch decides: the session's, then its project's, then the one for all, then the configuration. */
export function isEnabled(store: Store, record: Pick<SessionRecord, 'sessionId' | 'project'>, configured: boolean): boolean {
  return store.nearestSwitch(record.sessionId, record.project) ?? configured
}

/** Switching on opens the latches of every session it concerns; switching off cancels what still waits to be told. */
export function setEnabled(parts: Parts, scope: SwitchScope, key: string, enabled: boolean, at: string): void {
  const { store } = parts
  store.transaction(() => {
    store.setSwitch(scope, key, enabled, at)
    for (const record of concerned(store, scope, key)) {
      if (enabled) store.putSession({ ...record, track: rearm(record.track) })
      else cancelWaiting(parts, record, at, 'Baton was switched off')
    }
  })
}

/** Opens the latches of one session without switching anything. */
export function rearmSession(store: Store, sessionId: string): void {
  store.transaction(() => {
    const record = store.session(sessionId)
    if (record) store.putSession({ ...record, track: rearm(record.track) })
  })
}

function concerned(store: Store, scope: SwitchScope, key: string): SessionRecord[] {
  if (scope === 'all') return store.sessions()
  if (scope === 'project') return store.sessions({ project: key })
  const record = store.session(key)
  return record ? [record] : []
}

export function cancelWaiting(parts: Parts, record: SessionRecord, at: string, reason: string): void {
  const agent = parts.agents[record.agent]
  if (agent) cancelStale({ parts, agent, record, at, events: [] }, reason, (message) => message.session_id === record.sessionId)
}
