import { readFileSync, statSync } from 'node:fs'
import { platform } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { rememberFor } from '../../lib/remember.js'
import { type Fields, list, number, object, parseObject, text } from './fields.js'

/** The settings a measurement depends on, merged as the client merges them. */
export interface ClientSettings {
  autoCompactEnabled?: boolean
  autoCompactWindow?: number
  model?: string
  env: Record<string, string>
  /** How many hooks are asked before a compaction, Baton's own among them. */
  askedToCompact?: number
  /** Plugins, whose hooks are not looked at, are switched on. */
  plugins?: boolean
}

export interface SettingsPlaces {
  /** Claude Code's own folder; null: not known. */
  configDir: string | null
  project: string | null
  /** Value of `--settings`: a file or JSON. */
  flag?: string
  /** Value of `--setting-sources`; undefined: all. */
  sources?: string[]
  /** Where relative paths of the command line begin. */
  cwd: string | null
}

const MANAGED =
  platform() === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json'

/** User, project, local, `--settings`, managed: the later one wins key by key; `env` is merged name by name. */
export function readSettings(places: SettingsPlaces): ClientSettings {
  return remembered(JSON.stringify(places), () => mergeSettings(places))
}

const remembered = rememberFor<ClientSettings>(1000, 256)

function mergeSettings(places: SettingsPlaces): ClientSettings {
  const { configDir, project, flag, sources, cwd } = places
  const wants = (source: string): boolean => sources === undefined || sources.includes(source)
  const layers = [
    configDir !== null && wants('user') ? readFile(join(configDir, 'settings.json')) : null,
    project !== null && wants('project') ? readFile(join(project, '.claude', 'settings.json')) : null,
    project !== null && wants('local') ? readFile(join(project, '.claude', 'settings.local.json')) : null,
    flag === undefined ? null : readFlag(flag, cwd),
    readFile(MANAGED),
  ]
  const merged: ClientSettings = { env: {} }
  for (const layer of layers) if (layer !== null) merge(merged, layer)
  return merged
}

/** Where Claude Code keeps its files, from its environment. */
export function configDirOf(env: Record<string, string>): string | null {
  return text(env.CLAUDE_CONFIG_DIR) ?? (text(env.HOME) === null ? null : join(env.HOME as string, '.claude'))
}

function merge(into: ClientSettings, layer: Fields): void {
  if (typeof layer.autoCompactEnabled === 'boolean') into.autoCompactEnabled = layer.autoCompactEnabled
  const window = number(layer.autoCompactWindow)
  if (window !== null) into.autoCompactWindow = window
  const model = text(layer.model)
  if (model !== null) into.model = model
  const asked = hooksOf(layer, 'PreCompact')
  if (Object.values(object(layer.enabledPlugins) ?? {}).includes(true)) into.plugins = true
  if (asked > 0) into.askedToCompact = (into.askedToCompact ?? 0) + asked
  for (const [name, value] of Object.entries(object(layer.env) ?? {})) if (typeof value === 'string') into.env[name] = value
}

function hooksOf(layer: Fields, event: string): number {
  return list(object(layer.hooks)?.[event]).reduce<number>((sum, group) => sum + list(object(group)?.hooks).length, 0)
}

/** Value of `--settings`: a file or JSON. null: it cannot be read. */
export function readFlag(flag: string, cwd: string | null): Fields | null {
  if (flag.trimStart().startsWith('{')) return parseObject(flag)
  return isAbsolute(flag) ? readFile(flag) : cwd === null ? null : readFile(resolve(cwd, flag))
}

const CACHED_FILES = 64
const LARGEST_FILE = 1024 * 1024
const cache = new Map<string, { stamp: string; fields: Fields | null }>()

/** Kept by modification time and size, for a process that lives long. */
function readFile(path: string): Fields | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat?.isFile() || stat.size > LARGEST_FILE) return null
    const stamp = `${stat.mtimeMs} ${stat.size} ${stat.ino}`
    const kept = cache.get(path)
    if (kept?.stamp === stamp) return kept.fields
    const fields = parseObject(readFileSync(path, 'utf8'))
    cache.delete(path)
    cache.set(path, { stamp, fields })
    if (cache.size > CACHED_FILES) cache.delete(cache.keys().next().value as string)
    return fields
  } catch {
    return null
  }
}
