import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readIfThere, realTarget } from '../../lib/atomic-file.js'
import type { Applied } from '../apply.js'
import { configFolder, entries, isBlank, openSettings, projectSettings, statusLineCommandIn } from '../claude-code-settings.js'
import { install } from '../install.js'
import { type Recognise, readStatusLine } from '../launcher-call.js'
import { launcherIdentity, lookAtEarlier, recordedKeys } from '../look.js'
import type { Scope } from '../plan.js'
import { type Fault, mends } from './finding.js'
import { launcherParts } from './launcher-parts.js'
import type { Env, Patient } from './patient.js'

/** A settings file that Baton is, or should be, installed in, and how install would be told to mean it. */
export interface Target {
  scope: Scope
  path: string
  env: Env
  project: string
}

/** Every settings file this home has been put into, and those of this environment and folder that call it without a record. */
export function targetsOf(patient: Patient): Target[] {
  const { home, env, cwd } = patient
  const found = new Map<string, Target>()
  const add = (scope: Scope, path: string): void => {
    const real = realTarget(path)
    if (!found.has(real)) found.set(real, targetAt(scope, path, env, cwd))
  }
  const here = userSettings(env)
  for (const key of recordedKeys(home.root)) {
    const { record } = lookAtEarlier(home.root, key)
    if (record && (record.path === here || isThere(record.scope, record.path))) add(record.scope, record.path)
  }
  const by = recognise(patient)
  const local = projectSettings(cwd).local
  if (callsUs(here, by)) add('user', here)
  if (callsUs(local, by)) add('project', local)
  return [...found.values()]
}

export function userSettings(env: Env): string {
  return join(configFolder(env, homedir()), 'settings.json')
}

export function recognise({ home, env }: Patient): Recognise {
  return { identify: launcherIdentity(home.launcher), env: { ...env, HOME: env.HOME ?? homedir() } }
}

/** What install would change in a target now; throws InstallProblem where it would refuse. */
export function rehearse(patient: Patient, target: Target): Applied {
  return runInstall(patient, target, true)
}

function reinstall(patient: Patient, target: Target): void {
  runInstall(patient, target, false)
  patient.instruments.prepareHome()
}

export const INSTALL_PACKAGE = 'Install the package again (npm install -g baton-cli), then run baton install.'

/** A fault that running install again mends: by `--fix` where Baton is installed already, else by the person. */
export function byInstall(patient: Patient, detail: string, what: string, target = targetsOf(patient)[0]): Fault {
  if (!hasEngine(patient)) return { detail, fix: INSTALL_PACKAGE }
  if (!target) return { detail, fix: 'Run baton install.' }
  return { detail, fix: mends(what), repair: () => reinstall(patient, target) }
}

/** False: the package this doctor belongs to is not whole, so the launcher it would write could start nothing. */
function hasEngine({ launcher }: Patient): boolean {
  const parts = launcherParts(launcher)
  return parts === null || existsSync(parts.engine)
}

function runInstall({ home, launcher, mod, client, now }: Patient, { scope, env, project }: Target, dryRun: boolean): Applied {
  return install({ home: home.root, env, project, scope, launcher, mod, clientVersion: client.version, clock: now, dryRun })
}

function targetAt(scope: Scope, path: string, env: Env, cwd: string): Target {
  if (scope === 'project') return { scope, path, env, project: dirname(dirname(path)) }
  return { scope, path, env: { ...env, CLAUDE_CONFIG_DIR: dirname(path) }, project: cwd }
}

/** A project or a configuration folder that was deleted took its install with it. */
function isThere(scope: Scope, path: string): boolean {
  return existsSync(scope === 'project' ? dirname(dirname(path)) : dirname(path))
}

function callsUs(path: string, by: Recognise): boolean {
  const text = textOf(path)
  if (isBlank(text)) return false
  try {
    const line = statusLineCommandIn(text)
    const mine = entries(openSettings(text), by).some(({ call }) => call.whose === 'ours')
    return mine || (line !== null && readStatusLine(line, by)?.whose === 'ours')
  } catch {
    return false
  }
}

function textOf(path: string): string {
  try {
    return readIfThere(path)?.toString() ?? ''
  } catch {
    return ''
  }
}
