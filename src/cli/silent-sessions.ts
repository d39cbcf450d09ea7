import type { Session } from '../contract/session.js'
import type { House } from '../house.js'
import { isSilent } from '../policy/silence.js'

/**
 * "Enabled, but no readings arrive" is an alarm of its own: a sentence for each session it holds for. Time counts up to the
 * session's last sign of life: one that rests owes nobody a reading.
 */
export function silentSessions(house: House, sessions: readonly Session[]): string[] {
  return sessions.flatMap((session) => {
    if (!session.enabled || session.state === 'ended') return []
    const record = house.store.session(session.session_id)
    if (!record) return []
    const { silence, seenAt } = record
    if (!isSilent({ ...silence, alarmed: false }, new Date(seenAt))) return []
    const minutes = Math.round((Date.parse(seenAt) - Date.parse(silence.since)) / 60_000)
    const calls = silence.toolCalls === 1 ? '1 tool call' : `${silence.toolCalls} tool calls`
    return [`${session.session_id.slice(0, 8)} is enabled, but no reading arrives (${calls}, ${minutes} min). Run baton doctor.`]
  })
}
