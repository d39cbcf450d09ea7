import { existsSync, lstatSync, mkdirSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { agentClients } from '../agents/clients.js'
import type { AgentInstaller, PluginModuleFile, SettingsScope } from '../agents/installer.js'
import { agentInstallers } from '../agents/installers.js'
import { InstallProblem } from '../agents/shared/install-problem.js'
import type { ProgramRecognition } from '../agents/shared/launcher-call.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { FileChanged, readIfThere, realTarget } from '../lib/atomic-file.js'
import { errorCodeOf } from '../lib/errors.js'
import { isRunning } from '../lib/process-info.js'
import { type AppliedPlan, type ApplyOptions, applyPlan } from './apply.js'
import { installFiles } from './home-files.js'
import { launcherIdentity, lookAtEarlier, lookAtLauncher, lookAtMod, lookAtSettings, recordedKeys } from './look.js'
import type { Plan } from './plan.js'
import { planInstall } from './plan-install.js'
import { planUninstall, type UninstallTarget } from './plan-uninstall.js'

interface InstallPlace extends ApplyOptions {
  /** Baton's own folder. */
  home: string
  env: Record<string, string | undefined>
  /** The project's root, for the settings of scope project. */
  project: string
}

export interface InstallOptions extends InstallPlace {
  /** Absent for the default agent. */
  agent?: string
  scope: SettingsScope
  /** The launcher's text. */
  launcher: string
  mod: PluginModuleFile[]
  /** Null when the client's version is not known. */
  clientVersion: string | null
  /**
   * True to add a rule that lets the agent run `baton handoff` without a question.
   * Absent to keep the current state.
   */
  allowHandoff?: boolean
  clock: () => Date
}

export interface UninstallOptions extends InstallPlace {
  /** Absent for every settings file in which this home is installed. */
  scope?: SettingsScope
}

/**
 * Adds Baton to the client's settings.
 * Throws InstallProblem, and then no settings file was changed.
 */
export function install(given: InstallOptions): AppliedPlan {
  const options = { ...given, home: plainHome(given.home) }
  return carryOut(options, () => planOf(options))
}

/** Removes Baton from every settings file to which this home added it. */
export function uninstall(given: UninstallOptions): AppliedPlan {
  const options = { ...given, home: plainHome(given.home) }
  const applied = carryOut(options, () => removalOf(options))
  const { launcher } = installFiles(options.home, '')
  if (!options.dryRun && !existsSync(launcher))
    for (const { liveFiles } of Object.values(agentClients)) liveFiles?.removeAll(join(options.home, 'live'))
  return applied
}

/** Makes the first plan without the lock: a refusal or an empty plan creates no folder. */
function carryOut(options: InstallPlace, plan: () => Plan): AppliedPlan {
  const first = plan()
  applyPlan(first, { dryRun: true })
  const { lock } = installFiles(options.home, '')
  if (options.dryRun || (first.steps.length === 0 && !isLocked(lock))) return applyPlan(first, options)
  return withLock(lock, () => {
    for (let tries = 1; ; tries++) {
      try {
        return applyPlan(plan(), options)
      } catch (error) {
        if (!(error instanceof FileChanged)) throw error
        if (tries === 5)
          throw new InstallProblem(
            error.path,
            'another program keeps changing the file',
            'Wait for that program to end and try again.',
          )
      }
    }
  })
}

function planOf(options: InstallOptions): Plan {
  const { home, env, agent = DEFAULT_AGENT } = options
  const installer = agentInstallers[agent]!
  const path = installer.settingsPath(options.scope, options)
  const settings = lookAtSettings(path)
  const { launcher, former } = installFiles(home, settings.key)
  const ignore: PluginModuleFile[] =
    options.scope === 'project' && options.mod.length > 0 ? [{ path: '.gitignore', text: '*\n' }] : []
  const modFiles = [...options.mod, ...ignore]
  return planInstall({
    agent,
    installer,
    home,
    scope: options.scope,
    settings,
    earlier: lookAtEarlier(home, settings.key),
    inherited: options.scope === 'project' ? inheritedLine(installer, options) : null,
    mod: lookAtMod(installer.modFolder(path), modFiles),
    modFiles,
    clientVersion: options.clientVersion,
    allowHandoff: options.allowHandoff ?? false,
    launcher: { wanted: options.launcher, found: lookAtLauncher(launcher) },
    former: readIfThere(former)?.toString() ?? null,
    by: recognise(home, env),
    now: options.clock(),
  })
}

function removalOf(options: UninstallOptions): Plan {
  const { home, scope } = options
  const { launcher, bin, formers, records } = installFiles(home, '')
  const targets = new Map<string, UninstallTarget>()
  const add = (installer: AgentInstaller, path: string, key?: string) => {
    const real = realTarget(path)
    if (targets.has(real)) return
    const settings = { ...lookAtSettings(path), ...(key && { key }) }
    const earlier = lookAtEarlier(home, settings.key)
    targets.set(real, { installer, settings, earlier, mod: lookAtMod(installer.modFolder(path), []) })
  }
  const keys = recordedKeys(home)
  const earlier = keys.map((key) => lookAtEarlier(home, key))
  const known = earlier.flatMap((e) => e.record ?? [])
  const meant = known.filter((r) => scope === undefined || r.scope === scope)
  for (const record of meant)
    add(agentInstallers[record.agent] ?? agentInstallers[DEFAULT_AGENT]!, record.path, record.key)
  for (const one of ['user', 'project'] as const)
    if (scope === undefined || scope === one)
      for (const installer of Object.values(agentInstallers)) add(installer, installer.settingsPath(one, options))
  const plan = planUninstall({
    home,
    targets: [...targets.values()],
    by: recognise(home, options.env),
    launcherFound: lookAtLauncher(launcher) !== null,
    homeFolders: [bin, formers, records].filter((path) => existsSync(path)),
    last: meant.length === known.length,
  })
  return { ...plan, notes: [...new Set([...plan.notes, ...earlier.flatMap((e) => e.notes)])] }
}

const recognise = (home: string, env: InstallPlace['env']): ProgramRecognition => ({
  identify: launcherIdentity(installFiles(home, '').launcher),
  env: { ...env, HOME: env.HOME ?? homedir() },
})

function inheritedLine(installer: AgentInstaller, options: InstallPlace): string | null {
  for (const file of installer.inheritedFrom(options)) {
    const command = installer.statusLineIn(readIfThere(file)?.toString() ?? '')
    if (command !== null) return command
  }
  return null
}

/** Returns the home as every command string spells it. */
function plainHome(home: string): string {
  if (!isAbsolute(home))
    throw new InstallProblem(home, "Baton's home is not an absolute path", 'Set BATON_HOME to an absolute path.')
  if (/[\n\r\0]/.test(home))
    throw new InstallProblem(
      home,
      "the path of Baton's home contains a line break",
      'Set BATON_HOME to another folder.',
    )
  return resolve(home)
}

const PATIENCE_MS = 10_000
const PAUSE_MS = 25

/**
 * Allows one install or uninstall at a time per home.
 * The lock is a symbolic link that names its owner, so it is created with its content atomically.
 * The lock of a dead process is taken over.
 * If two processes take it over at once, the comparison before each rename still prevents any loss.
 */
function withLock<T>(path: string, work: () => T): T {
  const folder = realTarget(dirname(path))
  const existed = existsSync(folder)
  for (let waited = 0; !take(path, folder); waited += PAUSE_MS) {
    if (waited >= PATIENCE_MS) {
      throw new InstallProblem(path, 'another install or uninstall is running', 'Wait for it to end and try again.')
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  try {
    return work()
  } finally {
    unless(['ENOENT'], () => unlinkSync(path))
    if (!existed) unless(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(folder))
  }
}

/** Returns whether a lock exists, including that of a killed run, which the next run removes. */
function isLocked(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function take(path: string, folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // ENOENT means that the process that made the folder has just removed it again.
  if (unless(['EEXIST', 'ENOENT'], () => symlinkSync(String(process.pid), path))) return true
  let owner = ''
  unless(['ENOENT', 'EINVAL'], () => {
    owner = readlinkSync(path)
  })
  if (/^\d+$/.test(owner) && !isRunning(Number(owner))) unless(['ENOENT'], () => unlinkSync(path))
  return false
}

/** Runs `work`. False when it failed with one of the expected error codes. */
function unless(expected: string[], work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (expected.includes(errorCodeOf(error) ?? '')) return false
    throw error
  }
}
