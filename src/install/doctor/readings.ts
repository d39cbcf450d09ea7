import type { SessionRecord } from '../../contract/record.js'
import type { Session } from '../../contract/session.js'
import { agoText, type Finding, fine } from './finding.js'
import type { Patient } from './patient.js'
import { withHouse } from './with-house.js'

const DAY = 24 * 3_600_000

/** "Enabled, but no readings arrive" is an alarm of its own. */
export function checkReadings(patient: Patient): Finding {
  const { instruments, now } = patient
  const found = withHouse(patient, (house) =>
    house.recent({}).flatMap((session) => {
      const record = house.store.session(session.session_id)
      return record ? [{ session, record }] : []
    }),
  )
  return judgeReadings(found ?? [], instruments.isSilent, now())
}

export function judgeReadings(
  found: readonly { session: Session; record: SessionRecord }[],
  isSilent: (silence: SessionRecord['silence'], now: Date) => boolean,
  now: Date,
): Finding {
  const lately = found.filter(({ record }) => now.getTime() - Date.parse(record.seenAt) < DAY)
  const silent = lately.filter(
    ({ session, record }) => session.enabled && session.state !== 'ended' && isSilent({ ...record.silence, alarmed: false }, now),
  )
  if (silent.length > 0) {
    return {
      told: '',
      faults: silent.map(({ session, record: { silence } }) => ({
        detail: `Session ${session.session_id.slice(0, 8)} is at work, but no reading has arrived for ${silence.toolCalls} tool calls (${agoText(now.getTime() - Date.parse(silence.since))}).`,
        fix: 'Mend what the other checks name. If they name nothing, end the session and resume it: it has the settings it was started with.',
      })),
    }
  }
  const last = Math.max(0, ...found.map(({ record }) => Date.parse(record.track.readAt ?? '') || 0))
  return fine(
    last === 0 ? 'None yet: open Claude Code and send a prompt.' : `The last one is ${agoText(now.getTime() - last)} old.`,
  )
}
