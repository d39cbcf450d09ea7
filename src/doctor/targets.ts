import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { agentClients } from '../agents/clients.js'
import type { AgentInstaller, CheckContext, SettingsScope, SettingsTarget as Target } from '../agents/installer.js'
import { agentInstallers } from '../agents/installers.js'
import type { ProgramRecognition } from '../agents/shared/launcher-call.js'
import { canTypeInto } from '../app/messages.js'
import type { AppliedPlan } from '../install/apply.js'
import { installFiles } from '../install/home-files.js'
import { install } from '../install/install.js'
import { launcherIdentity, lookAtEarlier, lookAtSettings, pathKey, recordedKeys } from '../install/look.js'
import { prepareHome } from '../install/prepare-home.js'
import { readIfThere, realTarget } from '../lib/atomic-file.js'
import { findProgram } from '../lib/find-program.js'
import { type Fault, fixHint } from '../lib/finding.js'
import { type DoctorContext, type Env, withApp } from './context.js'

/**
 * Lists every settings file in which this home is installed.
 * Lists settings files of this environment and folder that call it without a record, too.
 */
export function targetsOf(context: DoctorContext): Target[] {
  const { home, env, cwd, agent } = context
  const installer = agentInstallers[agent]!
  const found = new Map<string, Target>()
  const add = (scope: SettingsScope, path: string): void => {
    const real = realTarget(path)
    if (!found.has(real)) found.set(real, targetAt(installer, scope, path, env, cwd))
  }
  const place = { env, project: cwd }
  const [here, local] = [installer.settingsPath('user', place), installer.settingsPath('project', place)]
  for (const key of recordedKeys(home.root)) {
    const { record } = lookAtEarlier(home.root, key)
    if (record?.agent === agent && (record.path === here || isThere(record.scope, record.path)))
      add(record.scope, record.path)
  }
  const by = programRecognition(context)
  if (installer.callsBaton(textOf(here), by)) add('user', here)
  if (installer.callsBaton(textOf(local), by)) add('project', local)
  return [...found.values()]
}

export function programRecognition({ home, env }: DoctorContext): ProgramRecognition {
  return { identify: launcherIdentity(home.launcher), env: { ...env, HOME: env.HOME ?? homedir() } }
}

/** Returns everything that the agent's own checks need. */
export function checkContext(context: DoctorContext): CheckContext {
  const { agent, home, env, cwd, client, managed, now } = context
  return {
    home,
    env,
    cwd,
    client,
    ...(managed ? { managed } : {}),
    now,
    recognise: programRecognition(context),
    targets: () => targetsOf(context),
    rehearse: (target) => rehearse(context, target),
    byInstall: (detail, purpose, target) => faultFixedByInstall(context, detail, purpose, target),
    readSettings: (path) => lookAtSettings(path).bytes,
    keyOf: pathKey,
    formerLine: (key) => readIfThere(installFiles(home.root, key).former)?.toString() ?? '',
    // The check of the store itself reports its faults.
    sessions: () => withApp(context, (app) => app.store.sessions()) ?? [],
    findProgram: (name) => findProgram(name, env),
    async typable(pid, sessionId) {
      const configDir = agentClients[agent]?.configDir?.(env) ?? null
      return configDir !== null && canTypeInto(agent, { pid, configDir, sessionId })
    },
  }
}

/**
 * Returns what install would change in a target now. Throws InstallProblem when it would refuse.
 */
function rehearse(context: DoctorContext, target: Target): AppliedPlan {
  return runInstall(context, target, true)
}

function reinstall(context: DoctorContext, target: Target): void {
  runInstall(context, target, false)
  prepareHome(context.home, context.env)
}

export const INSTALL_PACKAGE = 'Run npm install -g baton-cli to install the package again, then baton install.'

/** Returns a fault that another install fixes: by `--fix` after an install, else by the user. */
export function faultFixedByInstall(
  context: DoctorContext,
  detail: string,
  purpose: string,
  target = targetsOf(context)[0],
): Fault {
  if (!hasEngine(context)) return { detail, fix: INSTALL_PACKAGE }
  if (!target) return { detail, fix: 'Run baton install.' }
  return { detail, fix: fixHint(purpose), repair: () => reinstall(context, target) }
}

/**
 * Returns false when doctor's own package is incomplete, so that its launcher could start nothing.
 */
function hasEngine({ launcher }: DoctorContext): boolean {
  const parts = launcherParts(launcher)
  return parts === null || existsSync(parts.engine)
}

function runInstall(
  { agent, home, launcher, mod, client, now }: DoctorContext,
  { scope, env, project }: Target,
  dryRun: boolean,
): AppliedPlan {
  return install({
    agent,
    home: home.root,
    env,
    project,
    scope,
    launcher,
    mod,
    clientVersion: client.version,
    clock: now,
    dryRun,
  })
}

function targetAt(installer: AgentInstaller, scope: SettingsScope, path: string, env: Env, cwd: string): Target {
  if (scope === 'project') return { scope, path, env, project: dirname(dirname(path)) }
  return { scope, path, env: installer.environmentFor(path, env), project: cwd }
}

/** Returns whether the project or configuration folder of an install still exists. */
function isThere(scope: SettingsScope, path: string): boolean {
  return existsSync(scope === 'project' ? dirname(dirname(path)) : dirname(path))
}

function textOf(path: string): string {
  try {
    return readIfThere(path)?.toString() ?? ''
  } catch {
    return ''
  }
}

/** The values written into a launcher. */
export interface LauncherParts {
  bash: string
  home: string
  node: string
  engine: string
  /** The rest of the text, equal for launchers of the same version. */
  program: string
}

const QUOTED = "('(?:[^']|'\\\\'')*')"
const VALUES = ['home', 'config', 'log', 'node', 'engine'].map((name) => `${name}=${QUOTED} `).join('')
const HEAD = new RegExp(`^#!(.*?)(?: -p)?\\n([^\\n]*\\n)${VALUES}(?=agent=)`)

/** Parses a launcher. Null when no version of ours has written it. */
export function launcherParts(text: string): LauncherParts | null {
  const found = HEAD.exec(text)
  if (!found) return null
  const [head, bash = '', comment = '', home = '', , , node = '', engine = ''] = found
  return {
    bash,
    home: unquote(home),
    node: unquote(node),
    engine: unquote(engine),
    program: comment + text.slice(head.length),
  }
}

function unquote(word: string): string {
  return word.slice(1, -1).replaceAll(`'\\''`, "'")
}
