import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionRecord } from '../../contract/record.js'
import { InstallProblem } from '../install-problem.js'
import { MARKER, supportsMods } from '../mod-folder.js'
import { agoText, type Fault, type Finding, fine } from './finding.js'
import type { Patient } from './patient.js'
import { byInstall, rehearse, type Target, targetsOf } from './targets.js'
import { withHouse } from './with-house.js'

const DAY = 24 * 3_600_000
const DERIVED = 'window and compaction point are derived, not exact'

/** Whether the mod is where the client loads it, and whether it reports. Baton works without it, only less exactly. */
export function checkMod(patient: Patient): Finding {
  const { client } = patient
  if (!supportsMods(client.version))
    return fine(`Claude Code ${client.version} loads no mods (2.1.287 and later do): ${DERIVED}.`)
  const faults: Fault[] = []
  const notes: string[] = []
  let since: number | null = null
  for (const target of targetsOf(patient)) {
    const found = lookAt(patient, target)
    if (found.fault) faults.push(found.fault)
    if (found.note) notes.push(found.note)
    if (found.since !== null) since = Math.min(since ?? found.since, found.since)
  }
  if (since === null || faults.length > 0)
    return { told: notes.join(' ') || `There is none yet: baton install puts it in. Without it ${DERIVED}.`, faults }
  const reports = lookAtReports(patient)
  const silent = judgeReports(reports, since, sessionsOf(patient), patient.now())
  if (silent) faults.push({ detail: silent, fix: 'Open a new session; if nothing changes, claude --debug names the reason.' })
  return { told: [told(reports, patient.now()), ...notes].join(' '), faults }
}

interface Found {
  fault?: Fault
  note?: string
  /** When the mod was put there; null: it is not. */
  since: number | null
}

function lookAt(patient: Patient, target: Target): Found {
  const folder = join(dirname(target.path), 'skills', 'baton')
  try {
    const { files, notes } = rehearse(patient, target)
    const wrong = files.filter(({ path, action }) => path.startsWith(`${folder}/`) && action !== 'unchanged')
    const foreign = notes.find((note) => note.startsWith(folder))
    if (foreign) return { note: foreign, since: null }
    if (wrong.length > 0) {
      const all = wrong.every(({ action }) => action === 'created')
      const detail = `The mod in ${folder} is ${all ? 'missing' : 'not of this version'}: ${DERIVED}.`
      return { fault: byInstall(patient, detail, 'writes it', target), since: null }
    }
    return { since: statSync(join(folder, MARKER), { throwIfNoEntry: false })?.mtimeMs ?? null }
  } catch (error) {
    // What keeps install from that file is said by the check of the settings.
    if (error instanceof InstallProblem) return { since: null }
    throw error
  }
}

/** What the mod wrote about one session. */
export interface Report {
  session: string
  at: number
  problem: string | null
}

function lookAtReports({ home }: Patient): Report[] {
  let names: string[] = []
  try {
    // Orders, their answers and summaries have names of two parts.
    names = readdirSync(home.live).filter((name) => /^[\w-]+\.json$/.test(name))
  } catch {
    return []
  }
  return names.flatMap((name) => {
    try {
      const path = join(home.live, name)
      const at = statSync(path).mtimeMs
      const { problem } = JSON.parse(readFileSync(path, 'utf8')) as { problem?: unknown }
      return [{ session: name.slice(0, -'.json'.length), at, problem: typeof problem === 'string' ? problem : null }]
    } catch {
      return []
    }
  })
}

/** A sentence when the mod is there but does not do its work; null: it does, or there was no occasion yet. */
export function judgeReports(
  reports: readonly Report[],
  since: number,
  sessions: readonly SessionRecord[],
  now: Date,
): string | null {
  const newest = reports.toSorted((a, b) => b.at - a.at)[0]
  if (newest?.problem && now.getTime() - newest.at < DAY) return `The mod reports a problem: ${newest.problem}`
  const reported = new Set(reports.map(({ session }) => session))
  const meant = sessions.filter(
    (one) =>
      one.agent === 'claude-code' &&
      Date.parse(one.startedAt) > since &&
      one.track.readAt !== null &&
      supportsMods(one.agentVersion),
  )
  if (meant.length === 0 || meant.some(({ sessionId }) => reported.has(sessionId))) return null
  return `The mod does not report: of ${meant.length} session${meant.length > 1 ? 's' : ''} since it was installed none did. So ${DERIVED}.`
}

function told(reports: readonly Report[], now: Date): string {
  if (reports.length === 0) return 'Installed; no session has reported through it yet.'
  return `Installed; its last report is ${agoText(now.getTime() - Math.max(...reports.map(({ at }) => at)))} old.`
}

/** The store's own check says what is wrong with it. */
function sessionsOf(patient: Patient): SessionRecord[] {
  return withHouse(patient, (house) => house.store.sessions()) ?? []
}
