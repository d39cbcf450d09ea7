import type { ProjectFile } from '../contract/policy.js'
import { addLayer } from './compile-layer.js'
import {
  type CompiledConfig,
  type ConfigLayer,
  emptyConfig,
  type LayerSettings,
  type LevelChange,
  PRESET_NAMES,
} from './compiled.js'
import { keyText } from './finding.js'
import { presetLevels } from './presets.js'
import type { WrittenConfig } from './schema.js'

type Ignored = ProjectFile['ignored'][number]

const READ_KEYS: readonly string[] = ['levels', 'status_line']
const LEVEL_NAME = /^[a-z0-9_-]{1,32}$/
const ACTIONS: readonly string[] = ['user', 'agent']
/**
 * Limit of levels: each tells the agent once per cycle, and a repository must not flood a session.
 */
const MOST_LEVELS = 16

/**
 * Adds the allowed parts of a project file that the user has not accepted.
 * Allowed are `status_line` and new levels that tell the user and the agent.
 * Existing levels keep position and actions.
 * Therefore the file can neither silence a warning nor delay a handoff.
 * Everything else is ignored and listed.
 */
export function addAllowedUntrustedKeys(
  config: CompiledConfig,
  written: WrittenConfig,
  from: ConfigLayer['from'],
  userHome: string,
): { config: CompiledConfig; ignored: Ignored[] } {
  const ignored = [...ignoredKeys(written, ''), ...ignoredInOverrides(written)]
  const readable = {
    levels: written.levels,
    status_line: written.status_line,
    overrides: written.overrides?.map(({ when, levels, status_line }) => ({ when, levels, status_line })),
  } as WrittenConfig
  const [layer] = addLayer(emptyConfig(), readable, { source: 'project', from }, userHome).layers
  const reserved = reservedNames(config)
  let room = MOST_LEVELS
  const keep = (set: LayerSettings, prefix: string): LayerSettings => {
    const levels = (set.levels ?? []).flatMap((change): LevelChange[] => {
      const key = `${prefix}${change.key}`
      const reason = whyNoLevel(change, reserved) ?? (room === 0 ? `more than ${MOST_LEVELS} levels` : null)
      if (reason !== null) {
        ignored.push({ key, reason })
        return []
      }
      room--
      const { actions } = change
      const others = actions?.filter((action) => !ACTIONS.includes(action)) ?? []
      for (const action of others)
        ignored.push({ key: `${key}.actions`, reason: `\`${action}\`: an untrusted file may use only user and agent` })
      return [actions ? { ...change, actions: actions.filter((action) => ACTIONS.includes(action)) } : change]
    })
    const { statusLine } = set
    return { ...(levels.length > 0 ? { levels } : {}), ...(statusLine ? { statusLine } : {}) }
  }
  const kept: ConfigLayer = {
    ...layer!,
    set: keep(layer!.set, ''),
    overrides: layer!.overrides.map(({ when, set }, index) => ({ when, set: keep(set, `overrides[${index}].`) })),
  }
  return { config: { ...config, layers: [...config.layers, kept] }, ignored }
}

function ignoredInOverrides({ overrides }: WrittenConfig): Ignored[] {
  return (overrides ?? []).flatMap(({ when: _, ...policy }, index) => ignoredKeys(policy, `overrides[${index}].`))
}

function ignoredKeys(written: object, prefix: string): Ignored[] {
  return Object.entries(written).flatMap(([key, value]) =>
    value === null || value === undefined || READ_KEYS.includes(key) || key === 'overrides'
      ? []
      : [{ key: `${prefix}${key}`, reason: 'read only from a trusted file' }],
  )
}

/** Returns why a level may not be added. Null when it may. */
function whyNoLevel({ name }: LevelChange, reserved: ReadonlySet<string>): string | null {
  if (!LEVEL_NAME.test(name))
    return `\`${name.slice(0, 40)}\`: in an untrusted file, level names match [a-z0-9_-]{1,32}`
  if (reserved.has(name))
    return `\`${name}\` is a level of your own configuration or of a preset and cannot be changed here`
  return null
}

/** Returns every level that a session may have without this file, in any presets and overrides. */
function reservedNames({ layers }: CompiledConfig): Set<string> {
  const own = layers.flatMap(({ set, overrides }) => [set, ...overrides.map((override) => override.set)])
  return new Set([
    ...presetLevels(PRESET_NAMES.filter((name) => name !== 'quiet')).keys(),
    ...own.flatMap(({ levels }) => levels ?? []).map(({ name }) => name),
  ])
}

/** The effects that a project file would have once it is trusted, for the user to judge. */
export interface FileDemands {
  /** Programs that Baton would start. */
  programs: { key: string; command: string }[]
  /** Addresses that Baton would contact. */
  addresses: { key: string; url: string }[]
  /** All other settings of the file, value by value. */
  settings: { key: string; value: unknown }[]
}

const ADDRESS_KEYS: readonly (string | number)[] = ['url', 'webhook', 'base_url']
const CHAT_SERVICES: Record<string, string> = { slack: 'https://slack.com', discord: 'https://discord.com' }

/**
 * Lists every value of a checked project file by its effect.
 * Nothing is left out: an unknown value counts as a setting.
 */
export function demandsOf(value: unknown): FileDemands {
  const demands: FileDemands = { programs: [], addresses: [], settings: [] }
  if (value !== null && value !== undefined) collect(value, [], demands)
  return demands
}

function collect(value: unknown, path: readonly (string | number)[], demands: FileDemands): void {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    for (const [name, inner] of Object.entries(value)) {
      collect(inner, [...path, Array.isArray(value) ? Number(name) : name], demands)
    }
    return
  }
  const key = keyText(path)
  const last = path.at(-1) ?? ''
  if (typeof value === 'string' && (last === 'command' || isCheck(path))) demands.programs.push({ key, command: value })
  else if (typeof value === 'string' && ADDRESS_KEYS.includes(last)) demands.addresses.push({ key, url: value })
  else demands.settings.push({ key, value })
  if (last === 'type' && typeof value === 'string' && Object.hasOwn(CHAT_SERVICES, value)) {
    demands.addresses.push({ key: keyText(path.slice(0, -1)), url: CHAT_SERVICES[value]! })
  }
}

/** Returns true for a check that is written as its command alone. */
function isCheck(path: readonly (string | number)[]): boolean {
  return typeof path.at(-1) === 'number' && path.at(-2) === 'checks'
}
