import type { Session } from '../contract/session.js'
import type { House } from '../house.js'
import { isSilent } from '../policy/silence.js'

/** "Enabled, but no readings arrive" is an alarm of its own: a sentence for each session it holds for. */
export function silentSessions(house: House, sessions: readonly Session[], now: Date): string[] {
  return sessions.flatMap((session) => {
    if (!session.enabled || session.state === 'ended') return []
    const silence = house.store.session(session.session_id)?.silence
    if (!silence || !isSilent({ ...silence, alarmed: false }, now)) return []
    const minutes = Math.round((now.getTime() - Date.parse(silence.since)) / 60_000)
    return [
      `${session.session_id.slice(0, 8)} is enabled, but no reading arrives (${silence.toolCalls} tool calls, ${minutes} min). Run baton doctor.`,
    ]
  })
}
