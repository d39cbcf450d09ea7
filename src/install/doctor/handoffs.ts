import { existsSync } from 'node:fs'
import type { BriefRecord } from '../../contract/brief.js'
import type { HandoffRecord } from '../../contract/handoff.js'
import { KeyTrouble, machineKey } from '../../lib/machine-key.js'
import { agoText, type Fault, type Finding, fine, mends } from './finding.js'
import type { Patient } from './patient.js'
import { withHouse } from './with-house.js'

/** Whoever has to look at a handoff when its time has come does so within a minute, if anything of Baton's runs at all. */
const LATE_MS = 5 * 60_000
/** A state that passes by itself passes within this. */
const LONG_MS = 30 * 60_000
const NEWEST = 200
/** Files of briefs that may still be given to somebody. */
const USABLE = new Set<BriefRecord['status']>(['checked', 'review', 'approved'])
const PASSING = new Set<HandoffRecord['state']>(['written', 'clearing', 'confirmed', 'started'])

/** Handoffs that stand still, and briefs whose files are no longer what was kept. */
export function checkHandoffs(patient: Patient): Finding {
  const { instruments, home } = patient
  const keyless = judgeKey(home.key)
  const forkless = judgeForks(patient)
  const found = withHouse(patient, (house) => {
    const briefs = house.store.briefs({ limit: NEWEST })
    return {
      open: house.store.openHandoffs(),
      briefs,
      bad: briefs
        .filter(({ status }) => keyless.length === 0 && USABLE.has(status))
        .filter((brief) => !instruments.isGenuine(brief)),
    }
  })
  if (found === null || (found.open.length === 0 && found.briefs.length === 0))
    return keyless.length + forkless.length > 0 ? { told: '', faults: [...keyless, ...forkless] } : fine('None.')
  const { open, briefs, bad } = found
  const late = judgeOpen(open, patient.now().getTime(), instruments.isUndriven, () => look(patient))
  const faults = [...keyless, ...forkless, ...late, ...judgeBriefs(bad)]
  const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
  return { told: `${many(open.length, 'handoff')} under way, ${many(briefs.length, 'brief')} kept.`, faults }
}

/** Without the key that signs briefs none can be kept, and none is given to an agent. */
function judgeKey(file: string): Fault[] {
  if (!existsSync(file)) return []
  try {
    machineKey(file)
    return []
  } catch (error) {
    if (!(error instanceof KeyTrouble)) throw error
    return [{ detail: `No session can be handed over. ${error.message}`, fix: error.hint ?? '' }]
  }
}

/** A session is forked by the program that runs it, and by the one on the PATH where that is gone or was replaced. */
function judgeForks({ client, instruments, cwd }: Patient): Fault[] {
  if (client.path !== null || !instruments.forks(cwd)) return []
  return [
    {
      detail: 'handoff.fork is on, and there is no claude on the PATH: a session whose client was updated cannot be forked.',
      fix: 'Put claude on the PATH of what runs Baton, or set handoff.fork to false: then Baton writes such briefs itself.',
    },
  ]
}

function look(patient: Patient): void {
  withHouse(patient, (house) => house.drain())
}

export function judgeOpen(
  open: readonly HandoffRecord[],
  now: number,
  isUndriven: (handoff: HandoffRecord) => boolean,
  repair: () => void,
): Fault[] {
  const undriven = open.filter(isUndriven)
  const rest = open.filter((one) => !undriven.includes(one))
  const late = rest.filter(({ dueAt }) => dueAt !== null && now - Date.parse(dueAt) > LATE_MS)
  const stuck = rest.filter((one) => !late.includes(one) && PASSING.has(one.state) && now - Date.parse(one.stateAt) > LONG_MS)
  return [
    ...of(undriven, now, 'nobody types for', 'Type /clear in that session, or run baton handoffs cancel <seat>.'),
    ...of(late, now, 'nobody has looked at', mends('looks at what is overdue')).map((fault) => ({ ...fault, repair })),
    ...of(stuck, now, 'nothing moves on', 'Look at it with baton handoffs list; baton handoffs cancel <seat> ends it.'),
  ]
}

function of(handoffs: readonly HandoffRecord[], now: number, what: string, fix: string): Fault[] {
  const [first] = handoffs
  if (!first) return []
  const more = handoffs.length > 1 ? ` and ${handoffs.length - 1} more` : ''
  const since = agoText(now - Date.parse(first.stateAt))
  return [{ detail: `There is a handoff ${what}: ${first.handoffId}${more}, ${first.state} for ${since}.`, fix }]
}

/** Of briefs that may still be given to an agent. */
export function judgeBriefs(bad: readonly BriefRecord[]): Fault[] {
  const gone = bad.filter(({ path }) => !existsSync(path))
  const changed = bad.filter((brief) => !gone.includes(brief))
  const named = (briefs: readonly BriefRecord[]): string =>
    `${briefs.length === 1 ? 'a brief' : `${briefs.length} briefs`} (${briefs[0]!.briefId}${briefs.length > 1 ? ', …' : ''})`
  const fix = 'No agent is given it. baton handoffs cancel <brief> drops it; a fresh brief takes its place.'
  return [
    ...(gone.length > 0 ? [{ detail: `The file of ${named(gone)} is gone.`, fix }] : []),
    ...(changed.length > 0 ? [{ detail: `The file of ${named(changed)} is not as Baton kept it.`, fix }] : []),
  ]
}
