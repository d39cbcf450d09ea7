import type { HandoffView } from '../contract/api/sessions.js'
import type { SessionRecord } from '../contract/records/session.js'
import { dropHandoff, requestBrief } from '../engine/handoff/handoff-calls.js'
import type { App } from '../engine/open-engine.js'
import { setEnabled } from '../engine/signals/switches.js'
import { viewHandoff } from '../engine/views/brief-view.js'
import { type ArchiveUseCases, archiveUseCases } from './archives.js'
import { type BriefUseCases, briefUseCases, handoffUnderWay } from './briefs.js'
import { type JobUseCases, jobUseCases } from './jobs.js'
import { type MessageUseCases, messageUseCases, typeSoon } from './messages.js'
import type { OwnProgram } from './own-program.js'
import { type SettingsUseCases, settingsUseCases } from './settings.js'

/**
 * Use cases that the server's routes call.
 * A record can be named by the beginning of its id.
 * Throws a `BatonError` when a record is missing or an action is impossible.
 */
export interface UseCases
  extends SessionUseCases,
    MessageUseCases,
    JobUseCases,
    BriefUseCases,
    ArchiveUseCases,
    SettingsUseCases {}

/** Returns the use cases of the server's routes. */
export function useCasesOf(app: App, program: OwnProgram): UseCases {
  return {
    ...sessionUseCases(app),
    ...messageUseCases(app),
    ...jobUseCases(app, program),
    ...briefUseCases(app),
    ...archiveUseCases(app, program),
    ...settingsUseCases(app, program),
  }
}

interface SessionUseCases {
  handOff(record: SessionRecord, reason: string | null): HandoffView
  cancelHandoff(record: SessionRecord): HandoffView
  switchSession(record: SessionRecord, enabled: boolean): void
}

/** The caller of a route counts as the user, because it has the token. */
const USER = null

function sessionUseCases(app: App): SessionUseCases {
  const { deps } = app.engine
  return {
    handOff({ sessionId }, reason) {
      const handoff = requestBrief(deps, { sessionId, caller: USER, reason })
      typeSoon(app, handoff.seatId)
      return viewHandoff(handoff)
    },
    cancelHandoff({ seatId, sessionId }) {
      const { handoffId } = handoffUnderWay(app, seatId, sessionId)
      return viewHandoff(dropHandoff(deps, { handoffId, caller: USER }))
    },
    switchSession: ({ sessionId }, enabled) => setEnabled(deps, 'session', sessionId, enabled, app.now().toISOString()),
  }
}
