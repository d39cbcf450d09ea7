import type { SessionRecord } from '../../contract/records/session.js'
import type { Store, SwitchScope } from '../../store/store.js'
import { reopenLevels } from '../../tracker/tracker.js'
import type { EngineDependencies } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { rareWork } from '../load-rare-work.js'
import { cancelStaleMessages } from '../messages/messages.js'
import { isEnabled } from '../session-context.js'

/**
 * Switches Baton on or off for a scope and removes narrower switches, so the last call wins.
 * After switching on, the levels of the affected sessions are reported again.
 * Switching off cancels waiting messages, and handoffs that no client has begun to execute.
 */
export function setEnabled(
  deps: EngineDependencies,
  scope: SwitchScope,
  key: string,
  enabled: boolean,
  at: string,
): void {
  const { store } = deps
  store.transaction(() => {
    const records = affectedSessions(store, scope, key).filter((record) => record.state !== 'ended')
    // The configuration is not read here. A session without a switch counts as it was last judged.
    const changes = records.filter((record) => isEnabled(store, record, record.enabled ?? true) !== enabled)
    if (scope === 'all') store.clearSwitches('project', 'all')
    if (scope === 'all') store.clearSwitches('session', 'all')
    if (scope === 'project')
      store.clearSwitches(
        'session',
        affectedSessions(store, scope, key).map((record) => record.sessionId),
      )
    store.setSwitch(scope, key, enabled, at)
    for (const record of changes) {
      if (enabled) store.putSession({ ...record, enabled, track: reopenLevels(record.track) })
      else cancelWaitingMessages(deps, record, at, 'Baton was switched off')
    }
  })
}

function affectedSessions(store: Store, scope: SwitchScope, key: string): SessionRecord[] {
  if (scope === 'all') return store.sessions()
  if (scope === 'project') return store.sessions({ project: key })
  const record = store.session(key)
  return record ? [record] : []
}

export function cancelWaitingMessages(
  deps: EngineDependencies,
  record: SessionRecord,
  at: string,
  reason: string,
): void {
  const agent = deps.agents[record.agent]
  if (!agent) return
  const context = { deps, agent, record, at, events: [] }
  if (openHandoff(context) !== null) rareWork(deps).stopHandoff(context, reason)
  cancelStaleMessages(context, reason, (message) => message.session_id === record.sessionId)
}
