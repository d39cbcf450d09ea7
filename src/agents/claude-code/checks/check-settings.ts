import { dirname, join } from 'node:path'
import { readIfThere, realTarget } from '../../../lib/atomic-file.js'
import { type Fault, type Finding, joinNames, noFaults, oneFault } from '../../../lib/finding.js'
import { namesInFolder } from '../../../lib/named-file.js'
import type { CheckContext, SettingsTarget } from '../../installer.js'
import { addPathToFault, decodeSettingsText, InstallProblem } from '../../shared/install-problem.js'
import type { ProgramRecognition } from '../../shared/launcher-call.js'
import { mentionsBaton, parseStatusLineCommand } from '../../shared/launcher-call.js'
import { launchersOfOtherHomes } from '../settings/change-settings.js'
import { MANAGED_SETTINGS_PATH } from '../settings/read-settings.js'
import {
  type BatonEntry,
  findBatonEntries,
  HOOK_TIMEOUTS_S,
  isBlankSettings,
  parseSettings,
  projectSettingsPaths,
  userSettingsPath,
} from '../settings/settings-file.js'
import { WAITING_HOOK_EVENTS, WAITING_HOOK_SETTINGS } from '../waiter.js'

/** Checks that the settings call the launcher once per event, in the form of this version. */
export function checkSettings(context: CheckContext): Finding {
  const targets = context.targets()
  if (targets.length === 0) {
    const faults = invalidSettings(context)
    return faults.length > 0
      ? { summary: '', faults }
      : oneFault("Claude Code's settings do not contain Baton's hooks.", 'Run baton install.')
  }
  const faults = [...targets.flatMap((target) => judgeTarget(context, target)), ...notRead(context, targets)]
  const places = targets.map(({ scope, path }) => `${path} (${scope})`)
  return { summary: `Hooks for all ${Object.keys(HOOK_TIMEOUTS_S).length} events are in ${joinNames(places)}.`, faults }
}

function judgeTarget(context: CheckContext, target: SettingsTarget): Fault[] {
  const { path, scope } = target
  try {
    const bytes = context.readSettings(path)
    if (bytes === null)
      return [context.byInstall(`${path} with Baton's hooks no longer exists.`, 'install the hooks again', target)]
    const text = decodeSettingsText(path, bytes)
    const by = context.recognise
    const [elsewhere] = addPathToFault(path, () => launchersOfOtherHomes(text, by))
    const found = elsewhere ? [] : addPathToFault(path, () => judgeEntries(text, by))
    if (found.length > 0)
      return found.map((detail) => context.byInstall(`${path}: ${detail}`, 'repair the hooks', target))
    const damaged = context.rehearse(target).notes.filter((note) => note.includes('is damaged'))
    return damaged.map((detail) => context.byInstall(detail, `run baton install --scope ${scope} again`, target))
  } catch (error) {
    if (!(error instanceof InstallProblem)) throw error
    // Another check reports problems of the launcher.
    if (error.path !== context.home.launcher) return [{ detail: `${error.path}: ${error.reason}.`, fix: error.hint }]
    return []
  }
}

/**
 * Reports settings files for this user and folder that cannot be parsed.
 * The client loads nothing from such a file.
 */
function invalidSettings(context: CheckContext): Fault[] {
  return [userSettingsPath(context.env), projectSettingsPaths(context.cwd).local].flatMap((path): Fault[] => {
    try {
      const bytes = context.readSettings(path)
      const text = bytes === null ? '' : decodeSettingsText(path, bytes)
      if (!isBlankSettings(text)) addPathToFault(path, () => parseSettings(text))
      return []
    } catch (error) {
      if (!(error instanceof InstallProblem)) throw error
      return [{ detail: `${error.path}: ${error.reason}.`, fix: error.hint }]
    }
  })
}

/**
 * Returns the faults of our entries in a settings file, one sentence each. Throws SettingsFault.
 */
function judgeEntries(text: string, by: ProgramRecognition): string[] {
  const all = isBlankSettings(text) ? [] : findBatonEntries(parseSettings(text), by)
  const events = Object.keys(HOOK_TIMEOUTS_S)
  const of = (event: string): BatonEntry[] => all.filter((entry) => entry.event === event && !isWaiter(entry))
  const missing = events.filter((event) => of(event).length === 0)
  const doubled = events.filter((event) => of(event).length > 1)
  const odd = all.filter((entry) => !doubled.includes(entry.event) && !isCurrent(entry)).map(({ event }) => event)
  return [
    ...(missing.length === events.length ? ["Baton's hooks are missing."] : []),
    ...(missing.length > 0 && missing.length < events.length
      ? [`the hooks for ${joinNames(missing)} are missing.`]
      : []),
    ...(doubled.length > 0
      ? [`${joinNames(doubled)} call${doubled.length > 1 ? '' : 's'} Baton more than once, with different commands.`]
      : []),
    ...(odd.length > 0 ? [`the hooks for ${joinNames([...new Set(odd)])} are outdated or were changed.`] : []),
  ]
}

const isWaiter = ({ event, call }: BatonEntry): boolean =>
  WAITING_HOOK_EVENTS.includes(event) && call.args[0] === 'waiter'

function isCurrent(entry: BatonEntry): boolean {
  const { event, call, hook, matcher } = entry
  if (isWaiter(entry)) return call.current && call.whose === 'ours' && matcher === '' && hasWaiterKeys(hook)
  const { timeout, type, args } = hook as { timeout?: unknown; type?: unknown; args?: unknown }
  const asWritten = call.current && call.whose === 'ours' && call.args.length === 1 && call.args[0] === event
  return asWritten && type === 'command' && timeout === HOOK_TIMEOUTS_S[event] && args === undefined && matcher === ''
}

function hasWaiterKeys(hook: unknown): boolean {
  return Object.entries(WAITING_HOOK_SETTINGS).every(([key, value]) => (hook as Record<string, unknown>)[key] === value)
}

/** Reports an install in a settings file that the client, when started here, does not read. */
function notRead(context: CheckContext, targets: SettingsTarget[]): Fault[] {
  const here = [userSettingsPath(context.env), projectSettingsPaths(context.cwd).local].map((path) => realTarget(path))
  const elsewhere = targets.find(({ scope }) => scope === 'user')
  if (!elsewhere || targets.some(({ path }) => here.includes(realTarget(path)))) return []
  const detail = `Baton's hooks are in ${elsewhere.path}, but Claude Code reads ${here[0]} here (CLAUDE_CONFIG_DIR).`
  return [{ detail, fix: 'Run baton install in this environment, too.' }]
}

/** A settings file that the client reads, with its values. Unusable files are omitted. */
export interface SettingsLayer {
  path: string
  rank: 'user' | 'project' | 'local' | 'managed'
  values: Record<string, unknown>
}

/** Returns all files that the client merges for a target, lowest rank first. */
function layersOf(context: CheckContext, target: SettingsTarget): SettingsLayer[] {
  const project = projectSettingsPaths(target.project)
  const files: [SettingsLayer['rank'], string][] = [
    ['user', target.scope === 'user' ? target.path : userSettingsPath(context.env)],
    ['project', project.shared],
    ['local', project.local],
    ...(context.managed ?? managedFiles(dirname(MANAGED_SETTINGS_PATH))).map(
      (path): [SettingsLayer['rank'], string] => ['managed', path],
    ),
  ]
  const seen = new Set<string>()
  return files.flatMap(([rank, path]) => {
    const real = realTarget(path)
    // In the user's home folder, the project's settings file is the user's own.
    if (seen.has(real)) return []
    seen.add(real)
    const values = valuesIn(path)
    return values ? [{ path, rank, values }] : []
  })
}

/** Returns the file that decides about a key: the one with the highest rank that has it. */
function deciding(layers: readonly SettingsLayer[], key: string): SettingsLayer | undefined {
  return layers.findLast(({ values }) => values[key] !== undefined)
}

const MOST_PARTS = 1000

function managedFiles(folder: string): string[] {
  const more = join(folder, 'managed-settings.d')
  const parts = namesInFolder(more, MOST_PARTS, 'this-user-or-root').filter((name) => name.endsWith('.json'))
  return [join(folder, 'managed-settings.json'), ...parts.sort().map((name) => join(more, name))]
}

function valuesIn(path: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(
      readIfThere(path)
        ?.toString()
        .replace(/^\uFEFF/, '') ?? 'null',
    )
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/**
 * Checks that the client runs hooks at all. Settings can forbid it, and then Baton does not run.
 */
export function checkHooksRun(context: CheckContext): Finding {
  const faults = context.targets().flatMap((target) => judgeHooksRun(layersOf(context, target)))
  // The client loads nothing, not even hooks, from an invalid file.
  faults.push(...invalidSettings(context))
  const unique = new Map(faults.map((fault) => [fault.detail, fault]))
  return unique.size === 0
    ? noFaults('No setting prevents hooks from running.')
    : { summary: '', faults: [...unique.values()] }
}

export function judgeHooksRun(layers: readonly SettingsLayer[]): Fault[] {
  const ask = 'Ask your administrator to allow your hooks, then run baton doctor again.'
  const off = deciding(layers, 'disableAllHooks')
  if (off && off.values.disableAllHooks !== false) {
    const detail = `disableAllHooks is set in ${off.path}, so Claude Code runs no hooks and no status line.`
    return [
      {
        detail,
        fix: off.rank === 'managed' ? ask : `Remove disableAllHooks from ${off.path}, then run baton doctor again.`,
      },
    ]
  }
  const managed = layers.filter(({ rank }) => rank === 'managed')
  return managed.flatMap(({ path, values }) => {
    if (values.allowManagedHooksOnly === true)
      return [
        {
          detail: `allowManagedHooksOnly is set in ${path}, so Claude Code runs only hooks of your organisation.`,
          fix: ask,
        },
      ]
    const locked = values.strictPluginOnlyCustomization
    if (locked === true || (Array.isArray(locked) && locked.includes('hooks')))
      return [
        {
          detail: `strictPluginOnlyCustomization in ${path} stops Claude Code from running hooks of settings files.`,
          fix: ask,
        },
      ]
    return []
  })
}

const COMBINE = 'show both status lines'

/** Checks that the client's status line is ours and also runs the former one. */
export function checkStatusLine(context: CheckContext): Finding {
  const faults: Fault[] = []
  const summaries = new Set<string>()
  for (const target of context.targets()) {
    const { fault, says } = judgeLine(context, target)
    if (fault) faults.push(fault)
    if (says) summaries.add(says)
  }
  // The check of the settings reports what prevents the status line.
  return { summary: [...summaries].join(' ') || "Baton's status line is not installed. Run baton install.", faults }
}

function judgeLine(context: CheckContext, target: SettingsTarget): { fault?: Fault; says?: string } {
  const layers = layersOf(context, target)
  // Another check reports an unusable file.
  if (!layers.some(({ path }) => context.keyOf(path) === context.keyOf(target.path))) return {}
  const layer = deciding(layers, 'statusLine')
  const by = context.recognise
  if (!layer) return { fault: context.byInstall(`${target.path} has no status line.`, "install Baton's", target) }
  const { command, type } = layer.values.statusLine as { command?: unknown; type?: unknown }
  if (typeof command !== 'string' || type !== 'command') {
    return {
      says: `The status line in ${layer.path} has a type that Baton cannot combine with its own. It is unchanged.`,
    }
  }
  const ours = parseStatusLineCommand(command, by)
  if (ours?.whose === 'other-home') return {}
  if (ours) return judgeOurs(context, target, layer, ours)
  if (mentionsBaton(command, by)) return { says: `Your own status line in ${layer.path} calls Baton.` }
  if (context.keyOf(layer.path) === context.keyOf(target.path))
    return {
      fault: context.byInstall(
        `The status line in ${layer.path} is not Baton's, so Baton's figures are not shown.`,
        COMBINE,
        target,
      ),
    }
  return { fault: hidden(layer, target) }
}

function judgeOurs(
  context: CheckContext,
  target: SettingsTarget,
  { path }: SettingsLayer,
  ours: NonNullable<ReturnType<typeof parseStatusLineCommand>>,
): { fault?: Fault; says?: string } {
  const key = context.keyOf(path)
  if (!ours.current || ours.whose === 'gone' || ours.args[1] !== key)
    return {
      fault: context.byInstall(`The status line in ${path} is outdated or was changed.`, 'repair it', target),
    }
  const kept = context.formerLine(key)
  if (kept !== ours.former)
    return {
      fault: context.byInstall(
        `Your former status line (in ${path}) no longer runs together with Baton's.`,
        'restore it',
        target,
      ),
    }
  return { says: `Baton's status line${ours.former ? ' together with yours' : ''}, in ${path}.` }
}

/** Returns the fault of a status line that outranks the file with Baton's. */
function hidden(layer: SettingsLayer, target: SettingsTarget): Fault {
  const detail = `The status line in ${layer.path} hides Baton's in ${target.path}.`
  if (layer.rank === 'managed')
    return { detail, fix: 'Your organisation sets it. Hooks still measure: run baton status to see the figures.' }
  return { detail, fix: `Run baton install --scope project in ${target.project} to show both there.` }
}
