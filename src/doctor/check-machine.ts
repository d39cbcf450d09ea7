import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openRuntime } from '../app/open-runtime.js'
import { loadConfig } from '../config/load-config.js'
import type { ProjectFile } from '../contract/policy.js'
import { RUNTIMES } from '../contract/records/job.js'
import { lookAtLauncher } from '../install/look.js'
import { findProgram } from '../lib/find-program.js'
import { bytesText, type Fault, type Finding, joinNames, noFaults, oneFault } from '../lib/finding.js'
import { type DoctorContext, withApp } from './context.js'
import { faultFixedByInstall, INSTALL_PACKAGE, type LauncherParts, launcherParts } from './targets.js'

/** The oldest supported Node version. */
const OLDEST_NODE = [20, 19] as const
const PATIENCE_MS = 5_000
const AGAIN = 'rewrite the launcher with the programs of this machine'

export function checkPlatform({ platform = process.platform }: DoctorContext): Finding {
  if (platform === 'linux' || platform === 'darwin')
    return noFaults(`${platform === 'linux' ? 'Linux' : 'macOS'}, ${process.arch}.`)
  const name = platform === 'win32' ? 'Windows' : platform
  return oneFault(
    `Baton runs on Linux and macOS, not on ${name}.`,
    'On Windows, run wsl and use Baton and the agent inside it.',
  )
}

export async function checkNode(context: DoctorContext): Promise<Finding> {
  const own = { node: process.execPath, version: process.versions.node }
  const node = installedParts(context)?.node ?? own.node
  const faults: Fault[] = isSupportedNode(own.version) ? [] : [{ ...tooOld(own.node, own.version), fix: NEWER_NODE }]
  if (!canRun(node)) {
    const other = findProgram('node', context.env)
    const instead = other ? `hooks use ${other} instead` : 'hooks measure nothing'
    faults.push(faultFixedByInstall(context, `The launcher starts ${node}, which does not exist: ${instead}.`, AGAIN))
    return { summary: '', faults }
  }
  const version = node === own.node ? own.version : await versionOf(node)
  if (version === null)
    faults.push(faultFixedByInstall(context, `The launcher starts ${node}, which does not run.`, AGAIN))
  else if (node !== own.node && !isSupportedNode(version))
    faults.push(faultFixedByInstall(context, tooOld(node, version).detail, AGAIN))
  return { summary: `Hooks run Node ${version} (${node}).`, faults }
}

/** Checks bash. `here` is the bash of this machine, null when there is none. */
export function checkBash(context: DoctorContext, here = findProgram('bash', context.env)): Finding {
  const bash = installedParts(context)?.bash ?? here
  if (bash !== null && canRun(bash)) return noFaults(`Hooks run ${bash}.`)
  if (here === null) return oneFault('Hooks need bash, which was not found.', 'Install bash, then run baton install.')
  return {
    summary: '',
    faults: [faultFixedByInstall(context, `The launcher needs ${bash}, which does not exist.`, AGAIN)],
  }
}

export function checkEngine(context: DoctorContext): Finding {
  const own = launcherParts(context.launcher)?.engine
  const engine = installedParts(context)?.engine ?? own
  if (engine === undefined) return noFaults('')
  const missing = [engine, join(dirname(engine), 'hook-config.cjs')].filter((path) => !existsSync(path))
  if (missing.length === 0) return noFaults(`Hooks start ${engine}.${npxWarning(engine)}`)
  const detail = `Hooks measure nothing, because their program is incomplete: ${missing.join(' and ')} is missing.`
  if (engine === own) return oneFault(detail, INSTALL_PACKAGE)
  return { summary: '', faults: [faultFixedByInstall(context, detail, `make the launcher start ${own}`)] }
}

/**
 * Returns a warning when hooks run from npx's cache, because they stop working once it is cleared.
 */
function npxWarning(engine: string): string {
  return /[\\/]_npx[\\/]/.test(engine)
    ? ' npx may clear this cache: run npm install -g baton-cli, then baton install.'
    : ''
}

/**
 * Reads the parts of the installed launcher.
 * Null when the launcher is missing or not executable, which its own check reports.
 */
export function installedParts({ home }: DoctorContext): LauncherParts | null {
  try {
    return launcherParts(lookAtLauncher(home.launcher) ?? '')
  } catch {
    return null
  }
}

export function isSupportedNode(version: string): boolean {
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

const LITTLE = 50_000_000

export function checkDisk({ home }: DoctorContext): Finding {
  const folder = existing(home.root)
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  return judgeDisk(folder, bavail * bsize, files > 0 ? ffree : null)
}

/**
 * Checks the disk. `inodes` is the number of files that can still be created, null without a limit.
 */
export function judgeDisk(folder: string, free: number, inodes: number | null): Finding {
  const fix = 'Free some space: new signals cannot be stored on a full disk. Run du -sh * to find large folders.'
  if (inodes !== null && inodes < 1000)
    return oneFault(`The file system of ${folder} has room for only ${inodes} more files.`, fix)
  if (free < LITTLE) return oneFault(`Only ${bytesText(free)} are free on the disk of ${folder}.`, fix)
  return noFaults(`${bytesText(free)} are free.`)
}

function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}

/**
 * Lists the runtimes that `baton run` can use.
 * A missing one is no fault, because nobody needs all of them.
 */
export async function checkRuntimes({ agent, env, cwd }: DoctorContext): Promise<Finding> {
  const all = await Promise.all(
    RUNTIMES.map(async (name) => ({
      name,
      missing: (await openRuntime(agent, name, cwd, { env: { PATH: env.PATH } })).missing(),
    })),
  )
  const there = all.filter(({ missing }) => missing === null).map(({ name }) => name)
  const not = all.flatMap(({ name, missing }) => (missing === null ? [] : [` ${name} is not available: ${missing}.`]))
  return noFaults(`Jobs can run with ${joinNames(there)}.${not.join('')}`)
}

export function checkConfiguration({ home, cwd, env }: DoctorContext): Finding {
  const { problems, notes, files, project } = loadConfig({ home, project: cwd, env })
  const read = files.filter(({ exists }) => exists).map(({ path }) => path)
  const places =
    read.length > 0
      ? `${joinNames(read)}.`
      : `No file, so the defaults apply. baton config init creates ${home.config}.`
  const noted =
    notes.length > 0 ? ` ${notes.length === 1 ? '1 note' : `${notes.length} notes`}: run baton config check.` : ''
  return {
    summary: places + untrustedText(project) + noted,
    faults: problems.map(({ key, file, line, reason, hint }) => ({
      detail: `${file}${line ? `:${line}` : ''}: ${key ? `${key}: ` : ''}${reason}.`,
      fix: hint || `Correct the file, then run baton config check.`,
    })),
  }
}

/** Names the ignored keys of an untrusted project file, and how the user accepts it. */
function untrustedText(project: ProjectFile | null): string {
  if (project === null || project.trusted || project.ignored.length === 0) return ''
  const keys = [...new Set(project.ignored.map(({ key }) => key))]
  const ignored = `ignored keys: ${joinNames(keys)}`
  return ` ${project.path} is not trusted (${project.reason}); ${ignored}. Run baton trust to accept the file.`
}

/** Lists where the user switched Baton off: everywhere, in a project, in sessions. No fault. */
export function checkSwitches(context: DoctorContext): Finding {
  const { env, cwd } = context
  const said = withApp(context, ({ store, recent }) => {
    const projects = [...new Set(store.sessions().flatMap(({ project }) => project ?? []))]
    const here = projects.filter((project) => cwd === project || cwd.startsWith(`${project}/`))
    const quiet = recent({ live: true }).filter(({ enabled }) => !enabled)
    return [
      ...(store.switchState('all', '') === false
        ? ['Baton is off for all sessions: it measures, but sends nothing. Run baton on --all to turn it on.']
        : []),
      ...(here.some((project) => store.switchState('project', project) === false)
        ? ['Baton is off for this project. Run baton on --project to turn it on.']
        : []),
      ...(quiet.length > 0
        ? [`Baton is off in ${quiet.map(({ session_id }) => session_id.slice(0, 8)).join(', ')}.`]
        : []),
    ]
  })
  const disabled =
    env.BATON_DISABLE === '1'
      ? ['BATON_DISABLE=1 is set in this shell, so Baton does nothing in sessions that it starts.']
      : []
  const all = [...disabled, ...(said ?? [])]
  return noFaults(all.length > 0 ? all.join(' ') : 'Baton is on.')
}
