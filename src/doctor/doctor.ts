import { clientVersion } from '../agents/client-version.js'
import { agentClients } from '../agents/clients.js'
import { agentInstallers } from '../agents/installers.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { launcherTextHere, pluginModuleHere } from '../install/installation.js'
import { BatonError, reasonOf } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import { type Finding, oneFault } from '../lib/finding.js'
import { batonHome } from '../lib/home.js'
import type { ProgramContext } from '../lib/program-context.js'
import { VERSION } from '../version.js'
import { checkDrainLock, checkHome, checkLauncher, checkLog, checkOutbox, checkSpool } from './check-home.js'
import {
  checkBash,
  checkConfiguration,
  checkDisk,
  checkEngine,
  checkNode,
  checkPlatform,
  checkRuntimes,
  checkSwitches,
} from './check-machine.js'
import { checkServer, checkSignal } from './check-server.js'
import {
  checkArchives,
  checkHandoffs,
  checkNotify,
  checkReadings,
  checkStore,
  checkTranscripts,
} from './check-store.js'
import type { Check, DoctorContext } from './context.js'
import { checkContext } from './targets.js'

/**
 * Checks in the order of their dependencies, so that a repair helps the following ones.
 * The proof by a signal is last.
 */
export const CHECKS: readonly Check[] = [
  { name: 'platform', look: checkPlatform },
  { name: 'home', look: checkHome },
  { name: 'disk', look: checkDisk },
  { name: 'log', look: checkLog },
  { name: 'launcher', look: checkLauncher },
  { name: 'node', look: checkNode },
  { name: 'bash', look: checkBash },
  { name: 'engine', look: checkEngine },
  ...agentChecks(DEFAULT_AGENT),
  { name: 'runtimes', look: checkRuntimes },
  { name: 'configuration', look: checkConfiguration },
  { name: 'switches', look: checkSwitches },
  { name: 'store', look: checkStore },
  { name: 'drain-lock', look: checkDrainLock },
  { name: 'spool', look: checkSpool },
  { name: 'outbox', look: checkOutbox },
  { name: 'archives', look: checkArchives },
  { name: 'transcripts', look: checkTranscripts },
  { name: 'handoffs', look: checkHandoffs },
  { name: 'notify', look: checkNotify },
  { name: 'server', look: checkServer },
  { name: 'readings', look: checkReadings },
  { name: 'signal', look: checkSignal },
]

function agentChecks(agent: string): Check[] {
  const checks = agentInstallers[agent]?.checks ?? []
  return checks.map(({ name, look }) => ({ name, look: (context) => look(checkContext(context)) }))
}

export interface CheckResult {
  name: string
  ok: boolean
  /** The finding, in one or more sentences. */
  detail: string
  /** The next step for the user. Null when there is no fault. */
  fix: string | null
  /** True when a fault was found and has just been repaired. */
  fixed: boolean
}

export interface DoctorInput extends Omit<DoctorContext, 'agent' | 'client'> {
  /** True to repair faults that need no choice and touch no data of the user. */
  fix: boolean
  /** Called after each check, to show progress to a waiting user. */
  tell?: (result: CheckResult) => void
}

/** Examines the installation of the home that the environment names. */
export function examineInstallation(
  { env, cwd, now, program }: ProgramContext & { cwd: string },
  options: Pick<DoctorInput, 'fix' | 'tell'>,
): Promise<{ ok: boolean; checks: CheckResult[] }> {
  const home = batonHome(env)
  const launcher = launcherTextHere(DEFAULT_AGENT, home, { env, program })
  return runDoctor({
    home,
    env,
    cwd,
    version: VERSION,
    launcher,
    mod: pluginModuleHere(DEFAULT_AGENT, home),
    now,
    ...options,
  })
}

/**
 * Examines an installation and changes nothing unless `fix` is set.
 * Never throws: an unexpected failure of a check is a finding.
 */
export async function runDoctor(
  input: DoctorInput,
  checksToRun: readonly Check[] = CHECKS,
): Promise<{ ok: boolean; checks: CheckResult[] }> {
  const agent = DEFAULT_AGENT
  const path = findProgram(agentClients[agent]!.program, input.env)
  const version = path === null ? null : await clientVersion(input.env)
  const context: DoctorContext = { ...input, agent, client: { path, version } }
  const checks: CheckResult[] = []
  for (const check of checksToRun) {
    const result = await examine(check, context, input.fix)
    checks.push(result)
    input.tell?.(result)
    if (check.name === 'platform' && !result.ok) break
  }
  return { ok: checks.every(({ ok }) => ok), checks }
}

async function examine(check: Check, context: DoctorContext, fix: boolean): Promise<CheckResult> {
  const first = await look(check, context)
  const repairs = first.faults.flatMap(({ repair }) => repair ?? [])
  if (!fix || repairs.length === 0) return result(check.name, first)
  const failed: BatonError[] = []
  for (const repair of repairs) {
    try {
      await repair()
    } catch (error) {
      failed.push(
        error instanceof BatonError
          ? error
          : new BatonError(reasonOf(error), 'Fix that, then run baton doctor --fix again.'),
      )
    }
  }
  const again = await look(check, context)
  if (again.faults.length === 0) {
    const repaired = first.faults.map(({ detail }) => detail).join(' ')
    return { ...result(check.name, again), detail: `Fixed: ${repaired}`, fixed: true }
  }
  const left = result(check.name, again)
  if (failed.length === 0) return left
  const [reasons, hints] = [failed.map(({ message }) => message), failed.map(({ hint }) => hint)]
  return {
    ...left,
    detail: `${left.detail} The repair failed: ${[...new Set(reasons)].join(' ')}`,
    fix: [...new Set(hints)].join(' '),
  }
}

async function look(check: Check, context: DoctorContext): Promise<Finding> {
  try {
    return await check.look(context)
  } catch (error) {
    if (error instanceof BatonError) return oneFault(error.message.replace(/\.?$/, '.'), error.hint)
    return oneFault(`This check failed: ${reasonOf(error)}.`, 'Fix that, then run baton doctor again.')
  }
}

function result(name: string, { summary, faults }: Finding): CheckResult {
  const unique = [...new Set(faults.map(({ detail }) => detail))]
  return {
    name,
    ok: faults.length === 0,
    detail: faults.length === 0 ? summary : unique.join(' '),
    fix: faults.length === 0 ? null : [...new Set(faults.map(({ fix }) => fix))].join(' '),
    fixed: false,
  }
}
