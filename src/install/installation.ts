import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { clientVersion } from '../agents/client-version.js'
import { agentClients } from '../agents/clients.js'
import type { PluginModuleFile, SettingsScope } from '../agents/installer.js'
import { agentInstallers } from '../agents/installers.js'
import { archivePaths } from '../archive/archive-folders.js'
import { ARCHIVE_SUFFIX, parseFileName } from '../archive/file-name.js'
import { briefSkill } from '../briefs/brief-skill.js'
import { briefFileStem as briefStemOf } from '../briefs/keep-file.js'
import { requestText } from '../briefs/request-text.js'
import type { JobRecord } from '../contract/records/job.js'
import { readServingUrl } from '../lib/announced-server.js'
import { readIfThere } from '../lib/atomic-file.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import { batonHome, type Home } from '../lib/home.js'
import { judgeHome } from '../lib/home-safety.js'
import { isAlive } from '../lib/process-info.js'
import { hookEnginePath, type ProgramContext } from '../lib/program-context.js'
import { displayPath } from '../lib/replace-controls.js'
import { isServerLocked } from '../store/server-lock.js'
import { openStore } from '../store/sqlite/sqlite.js'
import { VERSION } from '../version.js'
import { diskSize } from './disk-size.js'
import { installFiles } from './home-files.js'
import { install, uninstall } from './install.js'
import { foldersFile, missingFolders, rememberedFolders, rememberFolders, removeEmptyFolders } from './made-folders.js'
import { prepareHome } from './prepare-home.js'
import { isLink, type NotPurged, type PurgeRules, purgeHome, removeLink } from './purge-home.js'
import { ownUnitPath, servicePid, stopAndRemoveUnit } from './system-unit.js'

type InstalledProgram = Pick<ProgramContext, 'env' | 'program'>

export const AGENT_NAMES: readonly string[] = Object.keys(agentInstallers)

/**
 * Returns the launcher's text for this machine, with default paths for programs that are not found.
 */
export function launcherTextHere(agent: string, home: Home, program: InstalledProgram): string {
  const bash = findProgram('bash', program.env) ?? '/bin/bash'
  return agentInstallers[agent]!.launcher({ bash, home, node: process.execPath, engine: hookEnginePath(program) })
}

/** Returns the launcher's text for an install. Throws when a program that it starts is missing. */
export function launcherTextForInstall(agent: string, home: Home, program: InstalledProgram): string {
  if (findProgram('bash', program.env) === null) {
    throw new BatonError(
      'Cannot install the hooks: they need bash, which was not found.',
      'Install bash and run baton install again.',
    )
  }
  if (!existsSync(hookEnginePath(program))) {
    throw new BatonError(
      `Cannot install the hooks: ${hookEnginePath(program)} is missing from the package.`,
      'Run npm install -g baton-cli, then baton install.',
    )
  }
  return launcherTextHere(agent, home, program)
}

/**
 * Returns a warning when Baton runs from npx's cache: once that is cleared, the hooks do nothing.
 * Null when Baton runs from another folder.
 */
export function temporaryInstallWarning(program: string): string | null {
  if (!/[\\/]_npx[\\/]/.test(program)) return null
  return (
    'Hooks stop working when npx clears the cache that Baton runs from. ' +
    'Run npm install -g baton-cli, then baton install.'
  )
}

/** Returns the files of the plugin module as this version writes them for this home. */
export function pluginModuleHere(agent: string, home: Home): PluginModuleFile[] {
  const options = { liveDir: home.live, version: VERSION, requestPrompt: requestText(), briefSkill: briefSkill() }
  return agentInstallers[agent]!.modFiles(options)
}

/** Suffixes of the files that belong to a database. */
const BESIDE = ['', '-wal', '-shm', '-journal', '.damaged']

/** Returns the rules for everything Baton creates in its home, except the user's configuration. */
function purgeRules({ root, config, ...places }: Home): PurgeRules {
  const { index, ...archive } = archivePaths(root)
  const files = [
    ...Object.values(places),
    `${places.log}.1`,
    ...Object.values(archive),
    ...Object.values(installFiles(root, 'any')),
    ...Object.values(agentClients).flatMap(({ liveFiles }) => liveFiles?.folders(places.live) ?? []),
    foldersFile(root),
  ]
  const databases = [places.store, index].flatMap((path) => BESIDE.map((end) => path + end))
  const names = [...files, ...databases].map((path) => relative(root, path).split(sep, 1)[0]!)
  return {
    names: [...new Set(names)].filter((name) => name !== '..' && join(root, name) !== config),
    owns: {
      [relative(root, dirname(places.launcher))]: (path) => path === 'hook',
      [relative(root, archive.folder)]: (path) =>
        /^(pending\/(arc_\w+\.\d+)?|records\/)$/.test(path) ||
        parseFileName(path.replace(/^records\/(.+)\.json$/, `$1${ARCHIVE_SUFFIX}`)) !== null,
      [relative(root, places.briefs)]: (path) => {
        const [seat, file, ...deeper] = path.split('/')
        return /^seat_[\w-]+$/.test(seat!) && deeper.length === 0 && (file === '' || briefStemOf(file ?? '') !== null)
      },
    },
  }
}

/**
 * Returns the jobs in the store.
 * Empty without a readable store, because a damaged store must not prevent its own removal.
 */
function storedJobs(home: Home): JobRecord[] {
  if (!existsSync(home.store)) return []
  try {
    const store = openStore(home.store)
    try {
      return store.jobs()
    } finally {
      store.close()
    }
  } catch (error) {
    if (error instanceof BatonError) return []
    throw error
  }
}

/**
 * Removes the data, the log and the folders made for them.
 * Returns the paths that stay, with the reason.
 */
function purgeData(
  home: Home,
  jobs: readonly JobRecord[],
  dryRun: boolean,
  removed: (path: string) => void = () => {},
): NotPurged[] {
  const folders = rememberedFolders(home.root)
  // A linked home keeps everything, including the configuration.
  // The link's target is listed instead.
  const listsConfig = existsSync(home.config) && !(isLinked(home) && dirname(home.config) === resolve(home.root))
  const left = purgeHome(home.root, purgeRules(home), new Set([home.config]), dryRun, removed)
  if (dirname(home.log) !== resolve(home.root)) left.push(...removeLog(home, dryRun))
  if (!dryRun) removeEmptyFolders(folders)
  if (listsConfig) left.push({ path: home.config, reason: 'your configuration' })
  for (const { jobId, workspace } of jobs) {
    const worktree = workspace?.worktree
    if (worktree && existsSync(worktree.path))
      left.push({
        path: worktree.path,
        reason: `worktree of job ${jobId} with branch ${worktree.branch}; git worktree remove deletes it`,
      })
  }
  return left
}

/**
 * Lists the folders and files in the home from which a purge removes something.
 * Each has the number of bytes that the purge removes; the largest comes first.
 */
export function purgeSizes(home: Home): { name: string; bytes: number }[] {
  const sizes = new Map<string, number>()
  purgeData(home, [], true, (path) => {
    const name = relative(resolve(home.root), path).split(sep, 1)[0]!
    sizes.set(name, (sizes.get(name) ?? 0) + diskSize(path))
  })
  return [...sizes].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes)
}

const isLinked = (home: Home): boolean => isLink(resolve(home.root))

/**
 * Removes a log outside the home, and its folder when that becomes empty.
 * Returns targets of links, which stay.
 */
function removeLog(home: Home, dryRun: boolean): NotPurged[] {
  const left = [home.log, `${home.log}.1`].flatMap((path) => {
    if (isLink(path)) return removeLink(path, null, dryRun)
    if (!dryRun) rmSync(path, { force: true })
    return []
  })
  const folder = dirname(home.log)
  if (!dryRun && existsSync(folder) && !isLink(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
  return left
}

/** Refuses while a job runs, whose client would lose its hooks and whose log would come back. */
function refuseWhileRunning(jobs: readonly JobRecord[]): void {
  const running = jobs.filter(({ runner }) => runner !== null && isAlive(runner))
  if (running.length === 0) return
  const ids = running.map(({ jobId }) => jobId)
  throw new BatonError(
    `Cannot uninstall while ${ids.length === 1 ? `job ${ids[0]} is` : `jobs ${ids.join(', ')} are`} running.`,
    `Wait for ${ids.length === 1 ? 'its end' : 'their end'} or run baton jobs cancel ${ids[0]}, then try again.`,
    EXIT.refused,
    { jobs: ids },
  )
}

/** The program that installs or uninstalls, and the folder in which it was started. */
type Caller = ProgramContext & { cwd: string }

/**
 * Installs Baton into the settings of an agent.
 * `allows` is true when the agent may run `baton handoff` without a question.
 */
export async function installHere(
  caller: Caller,
  {
    agent,
    scope,
    dryRun,
    allowHandoff,
  }: { agent: string; scope: SettingsScope; dryRun: boolean; allowHandoff: boolean },
) {
  const { env, cwd, now, program } = caller
  const home = batonHome(env)
  const unsafe = judgeHome(home)
  if (unsafe) throw unsafe
  const launcher = launcherTextForInstall(agent, home, caller)
  const missing = [home.root, dirname(home.log)].flatMap(missingFolders)
  const done = install({
    agent,
    home: home.root,
    env,
    project: cwd,
    scope,
    launcher,
    mod: pluginModuleHere(agent, home),
    clientVersion: await clientVersion(env),
    allowHandoff,
    clock: now,
    dryRun,
  })
  if (!dryRun) {
    rememberFolders(home.root, missing)
    prepareHome(home, env)
  }
  const passing = temporaryInstallWarning(program)
  const allows = agentInstallers[agent]!.hasHandoffRule(readIfThere(done.files[0]?.path ?? '')?.toString() ?? '')
  return { ...done, notes: passing === null ? done.notes : [...done.notes, passing], allows }
}

/**
 * Removes Baton from the settings and, with `purge`, also its data and its service.
 * Refuses while a job or a server started by the user runs.
 * `scope` is null for every place where Baton was installed.
 * `confirm` is called before stored data is deleted and throws to keep it.
 * Pass null to delete without a question.
 */
export async function uninstallHere(
  caller: Caller,
  {
    purge,
    dryRun,
    scope,
    confirm,
  }: { purge: boolean; dryRun: boolean; scope: SettingsScope | null; confirm: (() => Promise<void>) | null },
) {
  const { env, cwd } = caller
  const home = batonHome(env)
  const unsafe = judgeHome(home)
  if (unsafe) throw unsafe
  const jobs = purge ? storedJobs(home) : []
  if (purge) refuseWhileRunning(jobs)
  const unit = ownUnitPath(caller)
  if (purge) await refuseWhileUserServes(caller, home, unit)
  if (purge && !dryRun) await confirm?.()
  const service = unit === null ? NOTHING : purge ? await withoutUnit(caller, unit, dryRun) : unitNote(unit, caller)
  // The service's server is stopped now, unless the system failed to stop it.
  if (purge && unit !== null && !dryRun) refuseWhileServing(home)
  const changes = uninstall({
    home: home.root,
    env,
    project: cwd,
    dryRun,
    ...(scope === null ? {} : { scope }),
  })
  const hadData = purge && existsSync(home.root)
  const linked = isLinked(home)
  const left = purge ? purgeData(home, jobs, dryRun) : []
  return {
    installed: changes.changed,
    changed: changes.changed || hadData || service.files.length > 0,
    files: [...changes.files, ...service.files],
    notes: [...changes.notes, ...service.notes],
    left,
    linked,
  }
}

interface Service {
  files: { path: string; action: 'removed'; backup: null }[]
  notes: string[]
}

const NOTHING: Service = { files: [], notes: [] }

function unitNote(unit: string, { env }: Caller): Service {
  const path = displayPath(unit, env.HOME)
  return {
    files: [],
    notes: [`The server still starts when you log in (${path}). Run baton serve remove to stop that.`],
  }
}

async function withoutUnit(caller: Caller, unit: string, dryRun: boolean): Promise<Service> {
  const failed = dryRun ? null : await stopAndRemoveUnit(caller)
  const note =
    failed && `${unit} was removed, but the service manager was not updated (${failed.command}: ${failed.reason}).`
  return { files: [{ path: unit, action: 'removed', backup: null }], notes: note ? [note] : [] }
}

/**
 * Throws while a server runs, unless the server is the installed service: a purge stops that.
 * Call the function before anything is changed.
 */
async function refuseWhileUserServes(caller: Caller, home: Home, unit: string | null): Promise<void> {
  const pid = unit === null ? null : await servicePid(caller)
  if (pid === null || readServingUrl(home.server)?.pid !== pid) refuseWhileServing(home)
}

function refuseWhileServing(home: Home): void {
  if (!isServerLocked(home.server)) return
  const serving = readServingUrl(home.server)
  throw new BatonError(
    `Cannot purge this home: a Baton server uses it${serving ? ` (process ${serving.pid}, ${serving.url})` : ''}.`,
    `Stop the server${serving ? ` (kill ${serving.pid})` : ''}, then try again.`,
    EXIT.refused,
  )
}
