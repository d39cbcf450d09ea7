import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lookAtLauncher } from '../look.js'
import { broken, type Fault, type Finding, fine } from './finding.js'
import { type LauncherParts, launcherParts } from './launcher-parts.js'
import type { Patient } from './patient.js'
import { byInstall, INSTALL_PACKAGE } from './targets.js'

/** The programs everything else needs: the system, Node, bash, the engine. */
const OLDEST_NODE = [20, 19] as const
const PATIENCE_MS = 5_000
const AGAIN = 'writes the launcher anew with the programs that are here'

export function checkPlatform({ platform = process.platform }: Patient): Finding {
  if (platform === 'linux' || platform === 'darwin') return fine(`${platform === 'linux' ? 'Linux' : 'macOS'}, ${process.arch}.`)
  const name = platform === 'win32' ? 'Windows' : platform
  return broken(`Baton runs on Linux and macOS, not on ${name}.`, 'On Windows, use it inside WSL together with the agent.')
}

export async function checkNode(patient: Patient): Promise<Finding> {
  const own = { node: process.execPath, version: process.versions.node }
  const node = installedParts(patient)?.node ?? own.node
  const faults: Fault[] = isNewEnough(own.version) ? [] : [{ ...tooOld(own.node, own.version), fix: NEWER_NODE }]
  if (!canRun(node)) {
    const other = patient.instruments.findProgram('node')
    const instead = other ? `hooks fall back on ${other}` : 'hooks measure nothing'
    faults.push(byInstall(patient, `The launcher starts ${node}, which is not there: ${instead}.`, AGAIN))
    return { told: '', faults }
  }
  const version = node === own.node ? own.version : await versionOf(node)
  if (version === null) faults.push(byInstall(patient, `${node}, which the launcher starts, does not run.`, AGAIN))
  else if (node !== own.node && !isNewEnough(version)) faults.push(byInstall(patient, tooOld(node, version).detail, AGAIN))
  return { told: `Hooks start Node ${version} (${node}).`, faults }
}

export function checkBash(patient: Patient): Finding {
  const here = patient.instruments.findProgram('bash')
  const bash = installedParts(patient)?.bash ?? here
  if (bash !== null && canRun(bash)) return fine(`${bash}.`)
  if (here === null) return broken('bash was not found: the hooks need it.', 'Install bash, then run baton install.')
  return { told: '', faults: [byInstall(patient, `The launcher needs ${bash}, which is not there.`, AGAIN)] }
}

export function checkEngine(patient: Patient): Finding {
  const own = launcherParts(patient.launcher)?.engine
  const engine = installedParts(patient)?.engine ?? own
  if (engine === undefined) return fine('')
  const missing = [engine, join(dirname(engine), 'hook-config.cjs')].filter((path) => !existsSync(path))
  if (missing.length === 0) return fine(`${engine}.${passing(engine)}`)
  const detail = `Hooks are silent and measure nothing: of the engine they start, ${missing.join(' and ')} is missing.`
  if (engine === own) return broken(detail, INSTALL_PACKAGE)
  return { told: '', faults: [byInstall(patient, detail, `makes the launcher start ${own}`)] }
}

/** Hooks go silent when npx clears its cache. */
function passing(engine: string): string {
  return /[\\/]_npx[\\/]/.test(engine)
    ? ' That is a cache of npx, which may be cleared: npm install -g baton-cli, then baton install.'
    : ''
}

/** null: there is no launcher, or none that can be started; its own check says so. */
export function installedParts({ home }: Patient): LauncherParts | null {
  try {
    return launcherParts(lookAtLauncher(home.launcher) ?? '')
  } catch {
    return null
  }
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
}

const NEWER_NODE = 'Install a newer Node, then run baton install with it.'
const tooOld = (node: string, version: string) => ({
  detail: `${node} is Node ${version}; Baton needs ${OLDEST_NODE.join('.')} or newer.`,
})

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function versionOf(node: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(node, ['--version'], { timeout: PATIENCE_MS, env: { PATH: process.env.PATH } }, (error, stdout) => {
      resolve(error ? null : (/^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null))
    })
  })
}
