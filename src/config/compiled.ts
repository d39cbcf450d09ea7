import type { DeliveryMode, LevelAction, Position } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { WrittenAgent } from './agent-schema.js'

export const PRESET_NAMES = ['default', 'full-window', 'sm', 'mpm', 'tens', 'quiet'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

export const LAYER_SOURCES = ['user', 'project', 'environment', 'flags'] as const
export type LayerSource = (typeof LAYER_SOURCES)[number]

/** An entry of `levels`. Keys that it omits are inherited from the level of that name. */
export interface LevelChange {
  name: string
  at?: Position
  /** The position as written. Present exactly when `at` is. */
  rule?: string
  actions?: LevelAction[]
  mode?: DeliveryMode
  /** Path of the entry in its source, such as `levels[1]`. */
  key: string
}

/** The checked settings of one source. An absent key was not written. */
export interface LayerSettings {
  enabled?: boolean
  presets?: PresetName[]
  levels?: LevelChange[]
  compaction?: Policy['compaction']
  mustSurvive?: string[]
  handoff?: Partial<Policy['handoff']>
  guards?: Partial<Policy['guards']>
  archive?: Partial<Policy['archive']>
  statusLine?: Partial<Policy['statusLine']>
  notify?: Policy['notify']
}

/** Patterns of an override. All keys must match; within a list, any pattern. */
export interface OverrideWhen {
  agent?: string[]
  project?: string[]
  model?: string[]
  seat?: string[]
}

/** Settings for the sessions that match `when`. */
interface Override {
  when: OverrideWhen
  set: LayerSettings
}

/** The settings of one source with its overrides. */
export interface ConfigLayer {
  source: LayerSource
  /** Description for users: `user file ~/.config/baton/config.yaml`. */
  from: string
  set: LayerSettings
  overrides: Override[]
}

export interface HookSettings {
  type: 'shell' | 'webhook' | 'slack' | 'discord'
  [key: string]: unknown
}

/** Price in USD per million tokens. */
interface Price {
  input?: number
  output?: number
  cache_creation?: number
  cache_read?: number
}

/**
 * The checked configuration of one project as plain JSON, lowest layer first.
 * Hooks read it instead of YAML.
 */
export interface CompiledConfig {
  version: 1
  layers: ConfigLayer[]
  /** Null when there is no limit. */
  budgets: { usd: number | null; tokens: number | null; turns: number | null; minutes: number | null }
  limits: { jobs: number | null; jobs_per_agent: number | null }
  /** Prices by model pattern. */
  prices: Record<string, Price>
  hooks: Record<string, HookSettings>
  /** Agents by name, as written. `resolve-agent.ts` turns one into a job. */
  agents: Record<string, WrittenAgent>
}

/** A remark about a written key that does not have its full effect yet. */
export interface KeyNote {
  key: string
  file: string
  text: string
}

/**
 * A configuration file that was searched for. `mtimeMs` and `size` are 0 when it does not exist.
 */
export interface FileStamp {
  path: string
  exists: boolean
  mtimeMs: number
  size: number
}

/** Returns a configuration without any source: the built-in defaults. */
export function emptyConfig(): CompiledConfig {
  return {
    version: 1,
    layers: [],
    budgets: { usd: null, tokens: null, turns: null, minutes: null },
    limits: { jobs: null, jobs_per_agent: null },
    prices: {},
    hooks: {},
    agents: {},
  }
}
