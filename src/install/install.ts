import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { sendWaitersHome } from '../agents/claude-code/waiter.js'
import { FileChanged, readIfThere, realTarget } from '../lib/atomic-file.js'
import { type Applied, type ApplyOptions, applyPlan } from './apply.js'
import { configFolder, projectSettings, statusLineCommandIn } from './claude-code-settings.js'
import { homeFiles } from './home-files.js'
import { InstallProblem } from './install-problem.js'
import type { Recognise } from './launcher-call.js'
import { isLocked, withLock } from './lock.js'
import { launcherIdentity, lookAtEarlier, lookAtLauncher, lookAtMod, lookAtSettings, recordedKeys } from './look.js'
import type { ModFile } from './mod-folder.js'
import type { Plan, Scope } from './plan.js'
import { planInstall } from './plan-install.js'
import { planUninstall, type UninstallTarget } from './plan-uninstall.js'

interface Where extends ApplyOptions {
  /** Baton's own folder. */
  home: string
  env: Record<string, string | undefined>
  /** The project's root: its `.claude` folder is meant with scope project. */
  project: string
}

export interface InstallOptions extends Where {
  scope: Scope
  /** The launcher's text. */
  launcher: string
  mod: ModFile[]
  /** null: cannot be told. */
  clientVersion: string | null
  /** True: adds a rule that lets the agent run `baton handoff` without a question. Left out: as it was. */
  allowHandoff?: boolean
  clock: () => Date
}

export interface UninstallOptions extends Where {
  /** Left out: every settings file this home is installed in. */
  scope?: Scope
  /** Names in the home to be removed for good. Left out: data stays. */
  purge?: string[]
}

/** Puts Baton into the client's settings. Throws InstallProblem; then no settings file was changed. */
export function install(given: InstallOptions): Applied {
  const options = { ...given, home: plainHome(given.home) }
  return carryOut(options, () => planOf(options))
}

/** Takes Baton out again, wherever this home has put it. */
export function uninstall(given: UninstallOptions): Applied {
  const options = { ...given, home: plainHome(given.home) }
  const applied = carryOut(options, () => removalOf(options))
  const { launcher } = homeFiles(options.home, '')
  if (!options.dryRun && !existsSync(launcher)) sendWaitersHome(join(options.home, 'live'))
  if (!options.dryRun && options.purge) purge(options.home, options.purge)
  return applied
}

/** A first plan without the lock: a refusal, or nothing to do, leaves not even a folder behind. */
function carryOut(options: Where, plan: () => Plan): Applied {
  const first = plan()
  applyPlan(first, { dryRun: true })
  const { lock } = homeFiles(options.home, '')
  if (options.dryRun || (first.steps.length === 0 && !isLocked(lock))) return applyPlan(first, options)
  return withLock(lock, () => {
    for (let tries = 1; ; tries++) {
      try {
        return applyPlan(plan(), options)
      } catch (error) {
        if (!(error instanceof FileChanged)) throw error
        if (tries === 5) throw new InstallProblem(error.path, 'another program keeps writing it', 'Try again when it is done.')
      }
    }
  })
}

/** Only what is named: a home may be a folder with other things in it. */
function purge(home: string, names: string[]): void {
  for (const name of names) {
    if (!['', '.', '..'].includes(name) && !name.includes('/')) rmSync(join(home, name), { recursive: true, force: true })
  }
  if (existsSync(home) && readdirSync(home).length === 0) rmdirSync(realpathSync(home))
}

function planOf(options: InstallOptions): Plan {
  const { home, env } = options
  const path = settingsPath(options, options.scope)
  const settings = lookAtSettings(path)
  const { launcher, former } = homeFiles(home, settings.key)
  const ignore: ModFile[] = options.scope === 'project' && options.mod.length > 0 ? [{ path: '.gitignore', text: '*\n' }] : []
  const modFiles = [...options.mod, ...ignore]
  return planInstall({
    home,
    scope: options.scope,
    settings,
    earlier: lookAtEarlier(home, settings.key),
    inherited: options.scope === 'project' ? inheritedLine(options) : null,
    mod: lookAtMod(modFolder(path), modFiles),
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
  const { launcher, bin, formers, records } = homeFiles(home, '')
  const targets = new Map<string, UninstallTarget>()
  const add = (path: string, key?: string) => {
    const real = realTarget(path)
    if (targets.has(real)) return
    const settings = { ...lookAtSettings(path), ...(key && { key }) }
    targets.set(real, { settings, earlier: lookAtEarlier(home, settings.key), mod: lookAtMod(modFolder(path), []) })
  }
  const keys = recordedKeys(home)
  const earlier = keys.map((key) => lookAtEarlier(home, key))
  const known = earlier.flatMap((e) => e.record ?? [])
  const meant = known.filter((r) => scope === undefined || r.scope === scope)
  for (const record of meant) add(record.path, record.key)
  for (const one of ['user', 'project'] as const) if (scope === undefined || scope === one) add(settingsPath(options, one))
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

function settingsPath({ env, project }: Where, scope: Scope): string {
  return scope === 'project' ? projectSettings(project).local : join(configFolder(env, homedir()), 'settings.json')
}

/** The client looks for mods beside the settings of either scope; with both there, it loads the user's. */
const modFolder = (settings: string) => join(dirname(settings), 'skills', 'baton')

const recognise = (home: string, env: Where['env']): Recognise => ({
  identify: launcherIdentity(homeFiles(home, '').launcher),
  env: { ...env, HOME: env.HOME ?? homedir() },
})

function inheritedLine(options: Where): string | null {
  const files = [projectSettings(options.project).shared, settingsPath(options, 'user')]
  for (const file of files) {
    const command = statusLineCommandIn(readIfThere(file)?.toString() ?? '')
    if (command !== null) return command
  }
  return null
}

/** The home as every command string spells it. */
function plainHome(home: string): string {
  if (!isAbsolute(home))
    throw new InstallProblem(home, "Baton's home is not an absolute path", 'Give BATON_HOME as an absolute path.')
  if (/[\n\r\0]/.test(home))
    throw new InstallProblem(home, "Baton's home has a line break in its name", 'Choose another BATON_HOME.')
  return resolve(home)
}
