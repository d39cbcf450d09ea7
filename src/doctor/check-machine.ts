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
import { byInstall, INSTALL_PACKAGE, type LauncherParts, launcherParts } from './targets.js'

/** The oldest supported Node version. */
const OLDEST_NODE = [20, 19] as const
const PATIENCE_MS = 5_000
const AGAIN = 'writes the launcher anew with the programs that are here'

export function checkPlatform({ platform = process.platform }: DoctorContext): Finding {
  if (platform === 'linux' || platform === 'darwin')
    return noFaults(`${platform === 'linux' ? 'Linux' : 'macOS'}, ${process.arch}.`)
  const name = platform === 'win32' ? 'Windows' : platform
  return oneFault(
    `Baton runs on Linux and macOS, not on ${name}.`,
    'On Windows, use it inside WSL together with the agent.',
  )
}

export async function checkNode(context: DoctorContext): Promise<Finding> {
  const own = { node: process.execPath, version: process.versions.node }
  const node = installedParts(context)?.node ?? own.node
  const faults: Fault[] = isNewEnough(own.version) ? [] : [{ ...tooOld(own.node, own.version), fix: NEWER_NODE }]
  if (!canRun(node)) {
    const other = findProgram('node', context.env)
    const instead = other ? `hooks fall back on ${other}` : 'hooks measure nothing'
    faults.push(byInstall(context, `The launcher starts ${node}, which is not there: ${instead}.`, AGAIN))
    return { summary: '', faults }
  }
  const version = node === own.node ? own.version : await versionOf(node)
  if (version === null) faults.push(byInstall(context, `${node}, which the launcher starts, does not run.`, AGAIN))
  else if (node !== own.node && !isNewEnough(version))
    faults.push(byInstall(context, tooOld(node, version).detail, AGAIN))
  return { summary: `Hooks start Node ${version} (${node}).`, faults }
}

/** Checks bash. `here` is the bash of this machine, null when there is none. */
export function checkBash(context: DoctorContext, here = findProgram('bash', context.env)): Finding {
  const bash = installedParts(context)?.bash ?? here
  if (bash !== null && canRun(bash)) return noFaults(`${bash}.`)
  if (here === null) return oneFault('bash was not found: the hooks need it.', 'Install bash, then run baton install.')
  return { summary: '', faults: [byInstall(context, `The launcher needs ${bash}, which is not there.`, AGAIN)] }
}

export function checkEngine(context: DoctorContext): Finding {
  const own = launcherParts(context.launcher)?.engine
  const engine = installedParts(context)?.engine ?? own
  if (engine === undefined) return noFaults('')
  const missing = [engine, join(dirname(engine), 'hook-config.cjs')].filter((path) => !existsSync(path))
  if (missing.length === 0) return noFaults(`${engine}.${passing(engine)}`)
  const detail = `Hooks are silent and measure nothing: of the engine they start, ${missing.join(' and ')} is missing.`
  if (engine === own) return oneFault(detail, INSTALL_PACKAGE)
  return { summary: '', faults: [byInstall(context, detail, `makes the launcher start ${own}`)] }
}

/**
 * Returns a warning when hooks run from npx's cache, because they stop working once it is cleared.
 */
function passing(engine: string): string {
  return /[\\/]_npx[\\/]/.test(engine)
    ? ' That is a cache of npx, which may be cleared: npm install -g baton-cli, then baton install.'
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
  const fix = 'Free some space; nothing that was stored is lost, but new signals need room.'
  if (inodes !== null && inodes < 1000)
    return oneFault(`The file system of ${folder} can hold only ${inodes} more files.`, fix)
  if (free < LITTLE) return oneFault(`Only ${bytesText(free)} are left on the disk of ${folder}.`, fix)
  return noFaults(`${bytesText(free)} free.`)
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
  const not = all.flatMap(({ name, missing }) => (missing === null ? [] : [` Not ${name}: ${missing}.`]))
  return noFaults(`Jobs can be run with ${joinNames(there)}.${not.join('')}`)
}

export function checkConfiguration({ home, cwd, env }: DoctorContext): Finding {
  const { problems, notes, files, project } = loadConfig({ home, project: cwd, env })
  const read = files.filter(({ exists }) => exists).map(({ path }) => path)
  const places = read.length > 0 ? `${joinNames(read)}.` : `No file; the defaults apply. Yours would be ${home.config}.`
  const noted =
    notes.length > 0 ? ` ${notes.length === 1 ? 'One note' : `${notes.length} notes`}: baton config check.` : ''
  return {
    summary: places + untrustedText(project) + noted,
    faults: problems.map(({ key, file, line, reason, hint }) => ({
      detail: `${file}${line ? `:${line}` : ''}: ${key ? `${key}: ` : ''}${reason}.`,
      fix: hint || `Correct it; baton config check says when it is right.`,
    })),
  }
}

/** Names the ignored keys of an untrusted project file, and how the user accepts it. */
function untrustedText(project: ProjectFile | null): string {
  if (project === null || project.trusted || project.ignored.length === 0) return ''
  const keys = [...new Set(project.ignored.map(({ key }) => key))]
  return ` ${project.path} is not trusted (${project.reason}); ignored: ${joinNames(keys)}. To accept the file: baton trust.`
}

/** Lists the switches that silence Baton. They are the user's choice, so never a fault. */
export function checkSwitches(context: DoctorContext): Finding {
  const { env, cwd } = context
  const said = withApp(context, ({ store, recent }) => {
    const projects = [...new Set(store.sessions().flatMap(({ project }) => project ?? []))]
    const here = projects.filter((project) => cwd === project || cwd.startsWith(`${project}/`))
    const quiet = recent({ live: true }).filter(({ enabled }) => !enabled)
    return [
      ...(store.switchState('all', '') === false
        ? ['baton off --all is in force: sessions are measured, nobody is told. baton on --all ends it.']
        : []),
      ...(here.some((project) => store.switchState('project', project) === false)
        ? ['baton off --project is in force here; baton on --project ends it.']
        : []),
      ...(quiet.length > 0 ? [`Silent in ${quiet.map(({ session_id }) => session_id.slice(0, 8)).join(', ')}.`] : []),
    ]
  })
  const disabled =
    env.BATON_DISABLE === '1' ? ['BATON_DISABLE=1 is set here: in sessions started from here Baton does nothing.'] : []
  const all = [...disabled, ...(said ?? [])]
  return noFaults(all.length > 0 ? all.join(' ') : 'On.')
}
