import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  type JsonArray,
  type JsonNode,
  type JsonObject,
  JsonTextError,
  propertyOf,
  readJson,
  toValue,
} from '../../../lib/json-text.js'
import { SettingsFault } from '../../shared/install-problem.js'
import { type LauncherCall, type ProgramRecognition, parseLauncherCall } from '../../shared/launcher-call.js'

/**
 * The client's events that Baton hooks, with the time limit of each hook in seconds.
 * Without a limit of its own, a SessionEnd hook would get 1.5 seconds.
 */
export const HOOK_TIMEOUTS_S: Record<string, number> = {
  SessionStart: 10,
  UserPromptSubmit: 10,
  PostToolBatch: 10,
  Stop: 10,
  StopFailure: 10,
  PreCompact: 10,
  PostCompact: 10,
  SubagentStop: 10,
  Notification: 10,
  SessionEnd: 4,
}

type Env = Record<string, string | undefined>

/** Returns the client's configuration folder of the user. */
export function configFolder(env: Env, userHome: string): string {
  return env.CLAUDE_CONFIG_DIR || join(env.HOME || userHome, '.claude')
}

/** Returns the user's settings file. */
export const userSettingsPath = (env: Env): string => join(configFolder(env, homedir()), 'settings.json')

export function projectSettingsPaths(project: string): { local: string; shared: string } {
  return { local: join(project, '.claude', 'settings.local.json'), shared: join(project, '.claude', 'settings.json') }
}

export function isBlankSettings(text: string): boolean {
  return text.replace(/^\uFEFF/, '').trim() === ''
}

/**
 * Returns the status line's command in a settings file.
 * Null when the file has no valid command.
 * Never throws.
 */
export function statusLineCommandIn(text: string): string | null {
  try {
    const line = isBlankSettings(text) ? null : statusLineOf(parseSettings(text))
    return line?.kind === 'command' ? line.command : null
  } catch {
    return null
  }
}

/**
 * Parses the text of a settings file.
 * Throws SettingsFault when the client cannot use the text, or a change would be ambiguous.
 */
export function parseSettings(text: string): JsonObject {
  const root = parse(text)
  if (root.kind !== 'object')
    throw new SettingsFault('the file does not contain a JSON object', 'Fix the file or move it away, then try again.')
  for (const key of ['hooks', 'statusLine']) refuseTwins(root, key, key)
  const hooks = propertyOf(root, 'hooks')?.value
  if (hooks && hooks.kind !== 'object') throw wrongType('hooks', 'an object')
  for (const event of Object.keys(HOOK_TIMEOUTS_S)) {
    if (!hooks) break
    refuseTwins(hooks, event, `hooks.${event}`)
    const groups = propertyOf(hooks, event)?.value
    if (groups && groups.kind !== 'array') throw wrongType(`hooks.${event}`, 'an array')
  }
  statusLineOf(root)
  return root
}

function parse(text: string): JsonNode {
  try {
    return readJson(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    throw new SettingsFault(
      `line ${error.line} is not valid JSON: ${error.reason}`,
      'Claude Code ignores the whole file. Fix that line and try again.',
    )
  }
}

function refuseTwins(node: JsonObject, key: string, path: string): void {
  if (node.parts.filter((p) => p.key === key).length < 2) return
  throw new SettingsFault(
    `the key ${path} occurs twice`,
    'Claude Code uses only the last one. Merge the two and try again.',
  )
}

function wrongType(path: string, wanted: string): SettingsFault {
  return new SettingsFault(
    `${path} is not ${wanted}`,
    `Claude Code cannot use it either. Change ${path} to ${wanted} or remove it, then try again.`,
  )
}

type StatusLine =
  | { kind: 'none' }
  | { kind: 'foreign'; type: unknown }
  | { kind: 'command'; command: string; node: JsonNode }

export function statusLineOf(root: JsonObject): StatusLine {
  const line = propertyOf(root, 'statusLine')?.value
  if (!line) return { kind: 'none' }
  if (line.kind !== 'object') throw wrongType('statusLine', 'an object')
  for (const key of ['type', 'command']) refuseTwins(line, key, `statusLine.${key}`)
  const { type } = toValue(line) as { type?: unknown }
  if (typeof type === 'string' && type !== 'command') return { kind: 'foreign', type }
  const node = propertyOf(line, 'command')?.value
  if (type !== 'command' || node?.kind !== 'scalar' || typeof node.value !== 'string') {
    throw new SettingsFault(
      'statusLine has no command',
      'Claude Code ignores a file with such a status line. ' +
        'Add "type": "command" and a "command" to it, or remove it, then try again.',
    )
  }
  return { kind: 'command', command: node.value, node }
}

/** The rule that lets the agent hand over its work without a question in every permission mode. */
export const HANDOFF_RULE = 'Bash(baton handoff:*)'

/**
 * Finds the list of allowed calls in settings. Throws SettingsFault when a rule cannot be added.
 */
export function allowListOf(root: JsonObject): { permissions: JsonObject | null; allow: JsonArray | null; at: number } {
  refuseTwins(root, 'permissions', 'permissions')
  const permissions = propertyOf(root, 'permissions')?.value ?? null
  if (permissions === null) return { permissions: null, allow: null, at: -1 }
  if (permissions.kind !== 'object') throw wrongType('permissions', 'an object')
  refuseTwins(permissions, 'allow', 'permissions.allow')
  const allow = propertyOf(permissions, 'allow')?.value ?? null
  if (allow === null) return { permissions, allow: null, at: -1 }
  if (allow.kind !== 'array') throw wrongType('permissions.allow', 'an array')
  return { permissions, allow, at: allow.parts.findIndex((one) => one.kind === 'scalar' && one.value === HANDOFF_RULE) }
}

export function settingsObjectAt(root: JsonObject, key: string): JsonObject | null {
  const value = propertyOf(root, key)?.value
  return value?.kind === 'object' ? value : null
}

export interface BatonEntry {
  event: string
  groups: JsonArray
  groupIndex: number
  list: JsonArray
  index: number
  call: LauncherCall
  hook: unknown
  /** The client's filter for the hook, '' when it always runs. */
  matcher: unknown
}

export function findBatonEntries(root: JsonObject, by: ProgramRecognition): BatonEntry[] {
  const found: BatonEntry[] = []
  for (const { key: event, value: groups } of settingsObjectAt(root, 'hooks')?.parts ?? []) {
    if (groups.kind !== 'array') continue
    groups.parts.forEach((one, groupIndex) => {
      const list = one.kind === 'object' ? propertyOf(one, 'hooks')?.value : undefined
      if (list?.kind !== 'array') return
      const { matcher = '' } = toValue(one) as { matcher?: unknown }
      list.parts.forEach((hook, index) => {
        const call = callOf(hook, by)
        if (call) found.push({ event, groups, groupIndex, list, index, call, hook: toValue(hook), matcher })
      })
    })
  }
  return found
}

function callOf(hook: JsonNode, by: ProgramRecognition): LauncherCall | null {
  const { command, args } = (hook.kind === 'object' ? toValue(hook) : {}) as { command?: unknown; args?: unknown }
  if (typeof command !== 'string') return null
  return parseLauncherCall(command, by, Array.isArray(args) ? args.map(String) : [])
}

const MIN_CLIENT = [2, 1, 287]

/** Returns whether a client loads plugin modules. A client of unknown version counts as new. */
export function supportsPluginModules(version: string | null): boolean {
  const parts = /(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number)
  if (!parts) return true
  const differs = parts.findIndex((n, i) => n !== MIN_CLIENT[i])
  return differs < 0 || parts[differs]! > MIN_CLIENT[differs]!
}
