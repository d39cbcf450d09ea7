import * as v from 'valibot'
import { HOOK_PAYLOAD_PATHS, type HookPayloadKind } from '../contract/hook-payloads.js'
import type { ConfigProblem } from '../contract/policy.js'
import { nearestName } from '../lib/nearest-name.js'
import { type KeyPath, MAX_BYTES, parseYaml } from '../lib/yaml-file.js'
import { checkLevels, isObject, type KnownNames } from './check-levels.js'
import { type CompiledConfig, type LayerSource, PRESET_NAMES, type PresetName } from './compiled.js'
import { type ConfigFinding, problemAt } from './finding.js'
import { presetLevels } from './presets.js'
import { configSchema, type WrittenConfig } from './schema.js'
import { unknownKeys } from './unknown-keys.js'
import { splitHint } from './value-kinds.js'

/** Result of checking one source. */
interface CheckedSource {
  findings: ConfigFinding[]
  /** Null when there are findings. */
  written: WrittenConfig | null
  /** Names that a higher source may refer to. */
  reach: KnownNames
}

const MOST_FINDINGS = 20

/** Names that every source may refer to: the levels of the default preset. */
export const BUILT_IN_NAMES: KnownNames = { levels: new Set(presetLevels(['default']).keys()), hooks: new Map() }

/** Returns the names that a higher source may refer to above an already checked configuration. */
export function knownNamesOf({ layers, hooks }: Pick<CompiledConfig, 'layers' | 'hooks'>): KnownNames {
  let levels = new Set(BUILT_IN_NAMES.levels)
  for (const { set } of layers) {
    if (set.presets) levels = new Set(presetLevels(set.presets).keys())
    for (const { name } of set.levels ?? []) levels.add(name)
  }
  return { levels, hooks: new Map(Object.entries(hooks).map(([name, { type }]) => [name, type])) }
}

/**
 * Finds every problem of one source, in the order of the file's keys.
 * `below`: names that lower sources define.
 * `ignoresMost`: the file is not trusted, so keys without a capability are not refused.
 */
export function checkSettings(
  raw: unknown,
  source: LayerSource,
  below: KnownNames,
  ignoresMost = false,
): CheckedSource {
  const value = raw ?? {}
  const parsed = v.safeParse(configSchema, value)
  if (!isObject(value)) return { findings: (parsed.issues ?? []).map(findingOf), written: null, reach: below }
  const reach: KnownNames = { levels: levelsIn(value, below.levels), hooks: hooksIn(value, below.hooks) }
  const base: KnownNames = { levels: levelsIn({ ...value, levels: undefined }, below.levels), hooks: reach.hooks }
  const findings = [
    ...(parsed.issues ?? []).map(findingOf),
    ...unknownKeys(configSchema, value),
    ...checkLevels(value.levels, ['levels'], base, ignoresMost),
    ...checkOverrides(value.overrides, reach, ignoresMost),
    ...checkMonitor(value.context_monitor),
    ...checkNamedHooks(value.hooks),
    ...checkAgents(value.agents, source, reach),
  ]
  // A key with a mistake is reported once, by that mistake.
  if (!ignoresMost && findings.length === 0) findings.push(...checkUnavailable(value))
  return {
    findings: limitFindings(inOrder(findings, value)),
    written: findings.length === 0 && parsed.success ? parsed.output : null,
    reach,
  }
}

function findingOf(issue: v.BaseIssue<unknown>): ConfigFinding {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  return { path, ...splitHint(issue.message) }
}

/** Refuses keys whose capability does not exist yet, because accepting them would promise it. */
function checkUnavailable({ prices }: Record<string, unknown>): ConfigFinding[] {
  if (prices === undefined || prices === null) return []
  return [
    {
      path: ['prices'],
      reason: 'would have no effect: Baton shows the costs that the client reports and computes none itself',
      hint: 'remove the key',
    },
  ]
}

function checkOverrides(overrides: unknown, reach: KnownNames, ignoresMost: boolean): ConfigFinding[] {
  if (!Array.isArray(overrides)) return []
  return overrides.flatMap((override: unknown, index) => {
    if (!isObject(override)) return []
    const levels = levelsIn({ presets: override.presets }, reach.levels)
    const says = Object.keys(override).some((key) => key !== 'when' && override[key] !== null)
    const empty: ConfigFinding[] = says
      ? []
      : [
          {
            path: ['overrides', index],
            reason: 'has no effect: it sets no key beside `when`',
            hint: 'add a key such as `presets`, or remove the entry',
          },
        ]
    return [
      ...empty,
      ...checkLevels(override.levels, ['overrides', index, 'levels'], { ...reach, levels }, ignoresMost),
    ]
  })
}

function checkMonitor(monitor: unknown): ConfigFinding[] {
  if (!isObject(monitor)) return []
  const warning = monitor.warning_percentage ?? 50
  const critical = monitor.critical_percentage ?? 65
  if (typeof warning !== 'number' || typeof critical !== 'number' || warning < critical) return []
  const key = monitor.critical_percentage === undefined ? 'warning_percentage' : 'critical_percentage'
  const reason = `levels must rise: critical (${critical}) is not above warning (${warning})`
  return [{ path: ['context_monitor', key], reason, hint: 'set warning_percentage below critical_percentage' }]
}

/** Returns the names of the levels after a source. Null when a wrong preset makes them unknown. */
function levelsIn(value: Record<string, unknown>, below: KnownNames['levels']): KnownNames['levels'] {
  let names = below
  if (value.presets !== undefined && value.presets !== null) {
    if (!Array.isArray(value.presets) || !value.presets.every(isPreset)) return null
    names = new Set(presetLevels(value.presets).keys())
  }
  const own = Array.isArray(value.levels) ? value.levels.filter(isObject).map(({ name }) => String(name)) : []
  const monitor = isObject(value.context_monitor) ? ['warning', 'critical'] : []
  return names && new Set([...names, ...monitor, ...own])
}

function isPreset(name: unknown): name is PresetName {
  return (PRESET_NAMES as readonly unknown[]).includes(name)
}

function hooksIn(value: Record<string, unknown>, below: KnownNames['hooks']): KnownNames['hooks'] {
  const own = isObject(value.hooks) ? Object.entries(value.hooks) : []
  return new Map([...below, ...own.map(([name, hook]) => [name, isObject(hook) ? hook.type : undefined] as const)])
}

/** Sorts findings by the order of the file's keys, then by index in a list. */
function inOrder(findings: ConfigFinding[], value: Record<string, unknown>): ConfigFinding[] {
  const places = new Map(Object.keys(value).map((key, index) => [key, index]))
  const rank = ({ path }: ConfigFinding) =>
    (places.get(String(path[0])) ?? -1) * 10_000 + (typeof path[1] === 'number' ? path[1] : 0)
  return [...findings].sort((a, b) => rank(a) - rank(b))
}

/** Keeps the first findings and counts the rest, because each kept one is looked up in the file. */
function limitFindings(findings: ConfigFinding[]): ConfigFinding[] {
  const rest = findings.length - MOST_FINDINGS
  if (rest <= 0) return findings
  const more: ConfigFinding = {
    path: [],
    reason: `and ${rest.toLocaleString('en')} more problems`,
    hint: 'correct these first',
  }
  return [...findings.slice(0, MOST_FINDINGS), more]
}

type Entry = Record<string, unknown>

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/
/** The kind of payload that the hooks of each configuration list receive. */
const HOOK_LISTS: Record<string, HookPayloadKind> = {
  on_context_threshold: 'context_threshold',
  on_session_start: 'session_start',
  after_run: 'end',
  on_error: 'end',
}
const EVERY_PAYLOAD = Object.keys(HOOK_PAYLOAD_PATHS) as HookPayloadKind[]

/**
 * Checks of agents that the schema cannot make for one key alone.
 * Reads the raw value, so that one wrong entry hides no other.
 */
function checkAgents(agents: unknown, source: LayerSource, reach: KnownNames): ConfigFinding[] {
  if (agents === undefined || agents === null) return []
  if (source !== 'project')
    return [
      {
        path: ['agents'],
        reason: 'agents can be defined only in a project',
        hint: "write `agents` in the project's baton.yaml",
      },
    ]
  const each = (key: string | number, entry: unknown) =>
    isObject(entry) ? checkAgent(entry, ['agents', key], reach) : []
  if (Array.isArray(agents)) return [...agents.flatMap((entry, index) => each(index, entry)), ...checkListed(agents)]
  const entries = isObject(agents) ? Object.entries(agents) : []
  return [...entries.flatMap(([name, entry]) => each(name, entry)), ...checkMapped(entries)]
}

function checkListed(agents: unknown[]): ConfigFinding[] {
  const seen = new Set<unknown>()
  return agents.flatMap((entry, index): ConfigFinding[] => {
    if (!isObject(entry)) return []
    const { name } = entry
    const path = ['agents', index, 'name']
    if (isNothing(name))
      return [{ path: ['agents', index], reason: 'has no name', hint: 'add `name`, such as `name: coder`' }]
    if (typeof name !== 'string') return []
    if (seen.has(name))
      return [{ path, reason: `two agents are named \`${name}\``, hint: 'give each agent its own name' }]
    seen.add(name)
    return wrongName(name, path)
  })
}

function checkMapped(entries: [string, unknown][]): ConfigFinding[] {
  return entries.flatMap(([key, entry]) => {
    const path = ['agents', key]
    const other = isObject(entry) && typeof entry.name === 'string' && entry.name !== key
    const twice: ConfigFinding[] = other
      ? [
          {
            path: [...path, 'name'],
            reason: `the agent is already named by its key, \`${key}\``,
            hint: 'remove `name`',
          },
        ]
      : []
    return [...wrongName(key, path), ...twice]
  })
}

function wrongName(name: string, path: KeyPath): ConfigFinding[] {
  if (NAME.test(name)) return []
  const hint = 'use at most 64 letters, digits, `_`, `-` and `.`, and begin with a letter or digit'
  return [{ path, reason: `\`${name}\` is not a valid agent name`, hint }]
}

function checkAgent(entry: Entry, path: KeyPath, reach: KnownNames): ConfigFinding[] {
  return [
    ...onlyOne(entry, 'prompt', 'prompt_file', path),
    ...onlyOne(entry, 'tools', 'allowed_tools', path),
    ...checkLevels(entry.levels, [...path, 'levels'], reach, true),
    ...refuseParentAction(entry.levels, [...path, 'levels']),
    ...(isObject(entry.hooks) ? checkHooks(entry.hooks, [...path, 'hooks'], reach) : []),
    ...(isObject(entry.workspace) ? checkWorkspace(entry.workspace, [...path, 'workspace']) : []),
  ]
}

/** Refuses the action `parent` in a level of a job, because a job tells its parent nothing. */
function refuseParentAction(levels: unknown, path: KeyPath): ConfigFinding[] {
  if (!Array.isArray(levels)) return []
  return levels.flatMap((level: unknown, index): ConfigFinding[] => {
    const at = isObject(level) && Array.isArray(level.actions) ? level.actions.indexOf('parent') : -1
    if (at < 0) return []
    return [
      {
        path: [...path, index, 'actions', at],
        reason: '`parent` would have no effect: levels of a job tell no other seat',
        hint: "remove it; `hooks.after_run` reports the job's end",
      },
    ]
  })
}

function onlyOne(entry: Entry, first: string, second: string, path: KeyPath): ConfigFinding[] {
  if (isNothing(entry[first]) || isNothing(entry[second])) return []
  return [
    {
      path: [...path, second],
      reason: `conflicts with \`${first}\`, which sets the same`,
      hint: `keep one of the two`,
    },
  ]
}

function checkHooks(hooks: Entry, path: KeyPath, reach: KnownNames): ConfigFinding[] {
  return Object.entries(HOOK_LISTS).flatMap(([list, payload]) => {
    const written: unknown[] = Array.isArray(hooks[list]) ? hooks[list] : []
    return written.flatMap((hook, index): ConfigFinding[] => {
      if (isObject(hook)) return checkWhen(hook.when, [payload], [...path, list, index, 'when'])
      if (typeof hook !== 'string' || reach.hooks.has(hook)) return []
      const hint = (): string => {
        const nearest = nearestName(hook, [...reach.hooks.keys()])
        return nearest
          ? `did you mean \`${nearest}\`?`
          : `add it at the top of the file: \`hooks: {${hook}: {type: shell, command: …}}\``
      }
      return [{ path: [...path, list, index], reason: `there is no hook \`${hook}\``, hint }]
    })
  })
}

/** Finds a `when` path that no payload has: its hook would never run. */
function checkWhen(when: unknown, payloads: readonly HookPayloadKind[], path: KeyPath): ConfigFinding[] {
  const known = [...new Set<string>(payloads.flatMap((payload) => HOOK_PAYLOAD_PATHS[payload]))]
  if (typeof when !== 'string' || when === '' || known.includes(when)) return []
  const hint = (): string => {
    const nearest = nearestName(when, known)
    return nearest ? `did you mean \`${nearest}\`?` : `known paths: ${known.join(', ')}`
  }
  return [{ path, reason: `the hook would never run: its payload has no \`${when}\``, hint }]
}

function checkNamedHooks(hooks: unknown): ConfigFinding[] {
  return (isObject(hooks) ? Object.entries(hooks) : []).flatMap(([name, hook]) =>
    isObject(hook) ? checkWhen(hook.when, EVERY_PAYLOAD, ['hooks', name, 'when']) : [],
  )
}

function checkWorkspace(workspace: Entry, path: KeyPath): ConfigFinding[] {
  if (workspace.create_pr !== true || workspace.push_on_success !== false) return []
  const hint = 'set `push_on_success: true` or remove it'
  return [
    {
      path: [...path, 'create_pr'],
      reason: 'a pull request needs a pushed branch, but `push_on_success` is false',
      hint,
    },
  ]
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined
}

/**
 * Finds every problem in a new text of the user's file, as `config check` would report it.
 * Empty when the text may be written.
 */
export function checkText(file: string, text: string): ConfigProblem[] {
  if (Buffer.byteLength(text) > MAX_BYTES)
    return [{ key: '', file, reason: 'is larger than 64 kB', hint: 'shorten the file' }]
  const { value, faults, lineOf } = parseYaml(file, text)
  if (faults.length > 0)
    return faults.map(({ line, reason, hint }) => ({
      key: '',
      file,
      reason: line === null ? reason : `line ${line}: ${reason}`,
      hint,
      ...(line === null ? {} : { line }),
    }))
  return checkSettings(value, 'user', BUILT_IN_NAMES).findings.map((finding) => problemAt({ file, lineOf }, finding))
}
