import { BatonError, reasonOf } from '../lib/errors.js'
import { checkArchives } from './doctor/archives.js'
import { checkClient } from './doctor/client.js'
import { checkConfiguration } from './doctor/configuration.js'
import { checkDisk } from './doctor/disk.js'
import { checkDrainLock } from './doctor/drain-lock.js'
import { broken, type Check, type Finding } from './doctor/finding.js'
import { checkHandoffs } from './doctor/handoffs.js'
import { checkHome } from './doctor/home.js'
import { checkHooksRun } from './doctor/hooks-run.js'
import { checkLauncher } from './doctor/launcher.js'
import { checkLog } from './doctor/log.js'
import { checkMod } from './doctor/mod.js'
import { checkOutbox } from './doctor/outbox.js'
import type { Patient } from './doctor/patient.js'
import { checkBash, checkEngine, checkNode, checkPlatform } from './doctor/programs.js'
import { checkReadings } from './doctor/readings.js'
import { checkRuntimes } from './doctor/runtimes.js'
import { checkServer } from './doctor/server.js'
import { checkSettings } from './doctor/settings.js'
import { checkSignal } from './doctor/signal.js'
import { checkSpool } from './doctor/spool.js'
import { checkStatusLine } from './doctor/status-line.js'
import { checkStore } from './doctor/store.js'
import { checkSwitches } from './doctor/switches.js'
import { checkWays } from './doctor/ways.js'

/** In the order in which one thing needs the other: what is mended helps what follows, and the proof comes last. */
export const CHECKS: readonly Check[] = [
  { name: 'platform', look: checkPlatform },
  { name: 'home', look: checkHome },
  { name: 'disk', look: checkDisk },
  { name: 'log', look: checkLog },
  { name: 'launcher', look: checkLauncher },
  { name: 'node', look: checkNode },
  { name: 'bash', look: checkBash },
  { name: 'engine', look: checkEngine },
  { name: 'client', look: checkClient },
  { name: 'settings', look: checkSettings },
  { name: 'hooks-run', look: checkHooksRun },
  { name: 'status-line', look: checkStatusLine },
  { name: 'mod', look: checkMod },
  { name: 'ways', look: checkWays },
  { name: 'runtimes', look: checkRuntimes },
  { name: 'configuration', look: checkConfiguration },
  { name: 'switches', look: checkSwitches },
  { name: 'store', look: checkStore },
  { name: 'drain-lock', look: checkDrainLock },
  { name: 'spool', look: checkSpool },
  { name: 'outbox', look: checkOutbox },
  { name: 'archives', look: checkArchives },
  { name: 'handoffs', look: checkHandoffs },
  { name: 'server', look: checkServer },
  { name: 'readings', look: checkReadings },
  { name: 'signal', look: checkSignal },
]

export interface CheckResult {
  name: string
  ok: boolean
  /** A sentence or more: what was found. */
  detail: string
  /** What to do; null when all is well. */
  fix: string | null
  /** True: it was broken, and has just been mended. */
  fixed: boolean
}

export interface DoctorInput extends Omit<Patient, 'client'> {
  /** Mends what can be mended without touching anybody's choice or data. */
  fix: boolean
  /** Told after each check, for a person who waits. */
  tell?: (result: CheckResult) => void
}

/** Examines an installation, changes nothing unless asked to mend. Never throws: a check that fails in an unforeseen way is a finding. */
export async function runDoctor(input: DoctorInput): Promise<{ ok: boolean; checks: CheckResult[] }> {
  const { findProgram, clientVersion } = input.instruments
  const path = findProgram('claude')
  const patient: Patient = { ...input, client: { path, version: path === null ? null : await clientVersion() } }
  const checks: CheckResult[] = []
  for (const check of CHECKS) {
    const result = await examine(check, patient, input.fix)
    checks.push(result)
    input.tell?.(result)
    if (check.name === 'platform' && !result.ok) break
  }
  return { ok: checks.every(({ ok }) => ok), checks }
}

async function examine(check: Check, patient: Patient, fix: boolean): Promise<CheckResult> {
  const first = await look(check, patient)
  const repairs = first.faults.flatMap(({ repair }) => repair ?? [])
  if (!fix || repairs.length === 0) return result(check.name, first)
  const failed: BatonError[] = []
  for (const repair of repairs) {
    try {
      await repair()
    } catch (error) {
      failed.push(
        error instanceof BatonError ? error : new BatonError(reasonOf(error), 'Mend that, then run baton doctor --fix again.'),
      )
    }
  }
  const again = await look(check, patient)
  if (again.faults.length === 0) {
    const mended = first.faults.map(({ detail }) => detail).join(' ')
    return { ...result(check.name, again), detail: `Mended. It was: ${mended}`, fixed: true }
  }
  const left = result(check.name, again)
  if (failed.length === 0) return left
  const [reasons, hints] = [failed.map(({ message }) => message), failed.map(({ hint }) => hint)]
  return {
    ...left,
    detail: `${left.detail} It could not be mended: ${[...new Set(reasons)].join(' ')}`,
    fix: [...new Set(hints)].join(' '),
  }
}

async function look(check: Check, patient: Patient): Promise<Finding> {
  try {
    return await check.look(patient)
  } catch (error) {
    if (error instanceof BatonError) return broken(`${error.message}.`, error.hint)
    return broken(`It could not be looked at: ${reasonOf(error)}.`, 'Mend that and run baton doctor again.')
  }
}

function result(name: string, { told, faults }: Finding): CheckResult {
  const unique = [...new Set(faults.map(({ detail }) => detail))]
  return {
    name,
    ok: faults.length === 0,
    detail: faults.length === 0 ? told : unique.join(' '),
    fix: faults.length === 0 ? null : [...new Set(faults.map(({ fix }) => fix))].join(' '),
    fixed: false,
  }
}
