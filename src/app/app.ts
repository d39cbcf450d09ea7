import type { App } from '../engine/open-engine.js'
import { type ArchiveUseCases, archiveUseCases } from './archives.js'
import { type BriefUseCases, briefUseCases } from './briefs.js'
import { type HandoffUseCases, handoffUseCases } from './handoffs.js'
import { type JobUseCases, jobUseCases } from './jobs.js'
import { type MessageUseCases, messageUseCases } from './messages.js'
import type { OwnProgram } from './own-program.js'
import { type SessionUseCases, sessionUseCases } from './sessions.js'
import { type SettingsUseCases, settingsUseCases } from './settings.js'

/**
 * Use cases that the server's routes call.
 * A record can be named by the beginning of its id.
 * Throws a `BatonError` when a record is missing or an action is impossible.
 */
export interface UseCases
  extends SessionUseCases,
    HandoffUseCases,
    MessageUseCases,
    JobUseCases,
    BriefUseCases,
    ArchiveUseCases,
    SettingsUseCases {}

/** Returns the use cases of the server's routes. */
export function useCasesOf(app: App, program: OwnProgram): UseCases {
  return {
    ...sessionUseCases(app),
    ...handoffUseCases(app),
    ...messageUseCases(app),
    ...jobUseCases(app, program),
    ...briefUseCases(app),
    ...archiveUseCases(app, program),
    ...settingsUseCases(app, program),
  }
}
