import type { Action, Mode, Position } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { WrittenAgent } from './agent-schema.js'

export const PRESET_NAMES = ['default', 'full-window', 'sm', 'mpm', 'tens', 'quiet'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

export const LAYERS = ['user', 'project', 'environment', 'flags'] as const
export type LayerSource = (typeof LAYERS)[number]

/** What one `levels` entry says; what it leaves out is inherited from the level of that name. */
export interface LevelChange {
  name: string
  at?: Position
  /** The position as written; there exactly when `at` is. */
  rule?: string
  actions?: Action[]
  mode?: Mode
  /** Where it stands in its source: `levels[1]`. */
  key: string
}

/** What one source says, checked. A key that is absent was not written. */
export interface Settings {
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

/** All patterns must match; within one list, any. */
export interface When {
  agent?: string[]
  project?: string[]
  model?: string[]
  seat?: string[]
}

interface Override {
  when: When
  set: Settings
}

export interface Layer {
  source: LayerSource
  /** For people: `user file ~/.config/baton/config.yaml`. */
  from: string
  set: Settings
  overrides: Override[]
}

export interface Hook {
  type: 'shell' | 'webhook' | 'slack' | 'discord'
  [key: string]: unknown
}

/** USD for a million tokens. */
interface Price {
  input?: number
  output?: number
  cache_creation?: number
  cache_read?: number
}

/** The configuration of one project, checked, in plain JSON: what the hook reads instead of YAML. Lowest layer first. */
export interface CompiledConfig {
  version: 1
  layers: Layer[]
  /** null: no limit. */
  budgets: { usd: number | null; tokens: number | null; turns: number | null; minutes: number | null }
  limits: { jobs: number | null; jobs_per_agent: number | null }
  /** By model pattern. */
  prices: Record<string, Price>
  hooks: Record<string, Hook>
  /** By name, as written; `resolve-agent.ts` makes a job of one. */
  agents: Record<string, WrittenAgent>
}

/** What a written key means for now, where it does not yet do all it says. */
export interface Note {
  key: string
  file: string
  text: string
}

/** A file that was looked for. `mtimeMs` and `size` are 0 when it does not exist. */
export interface FileStamp {
  path: string
  exists: boolean
  mtimeMs: number
  size: number
}

/** Nothing written: the built-in defaults. */
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
