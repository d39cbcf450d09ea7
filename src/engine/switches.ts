import type { SessionRecord } from '../contract/record.js'
import type { Store, SwitchScope } from '../store/store.js'
import { rearm } from '../tracker/tracker.js'
import type { Parts } from './draft.js'
import { openHandoff } from './handoffs.js'
import { cancelStale } from './messages.js'

/** The nearest switch decides: the session's, then its project's, then the one for all, then the configuration. */
export function isEnabled(store: Store, record: Pick<SessionRecord, 'sessionId' | 'project'>, configured: boolean): boolean {
  return store.nearestSwitch(record.sessionId, record.project) ?? configured
}

/**
 * The last word wins: switches nearer than this one are forgotten. Switching on opens the latches of the sessions it really
 * switches; switching off cancels what still waits to be told, and a handoff that is not being carried out yet.
 */
export function setEnabled(parts: Parts, scope: SwitchScope, key: string, enabled: boolean, at: string): void {
  const { store } = parts
  store.transaction(() => {
    const records = concerned(store, scope, key).filter((record) => record.state !== 'ended')
    // What the configuration says is not asked here: a session never switched counts as it was last judged.
    const changes = records.filter((record) => isEnabled(store, record, record.enabled ?? true) !== enabled)
    if (scope === 'all') store.clearSwitches('project', 'all')
    if (scope === 'all') store.clearSwitches('session', 'all')
    if (scope === 'project')
      store.clearSwitches(
        'session',
        concerned(store, scope, key).map((record) => record.sessionId),
      )
    store.setSwitch(scope, key, enabled, at)
    for (const record of changes) {
      if (enabled) store.putSession({ ...record, enabled, track: rearm(record.track) })
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
  if (!agent) return
  const desk = { parts, agent, record, at, events: [] }
  if (openHandoff(desk) !== null) parts.around().stopHandoff(desk, reason)
  cancelStale(desk, reason, (message) => message.session_id === record.sessionId)
}
