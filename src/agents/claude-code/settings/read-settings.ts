import { platform } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { type FileOwner, lookAtNamedFile, readNamedText } from '../../../lib/named-file.js'
import { makeTimedCache } from '../../../lib/timed-cache.js'
import { asList, asNumber, asObject, asText, type Fields, parseObject } from '../fields.js'

/** The settings that a measurement depends on, merged like the client merges them. */
export interface ClientSettings {
  autoCompactEnabled?: boolean
  autoCompactWindow?: number
  model?: string
  env: Record<string, string>
  /** Number of hooks that run before a compaction, including Baton's own. */
  askedToCompact?: number
  /** True when plugins are enabled. Their hooks are not inspected. */
  plugins?: boolean
  /** The permission mode of sessions that name none. Absent for the client's own default. */
  permissionMode?: string
  /**
   * True when the client continues by itself after a usage limit has ended.
   * Absent when the settings leave this to the client's own default.
   */
  autoContinue?: boolean
  /** Permission rules from all settings files that allow calls. Absent when there are none. */
  allowed?: string[]
}

interface SettingsPlaces {
  /** Claude Code's own folder. Null when not known. */
  configDir: string | null
  project: string | null
  /** Value of `--settings`: a file or JSON. */
  flag?: string
  /** Value of `--setting-sources`. Undefined for all. */
  sources?: string[]
  /** Base folder for relative paths on the command line. */
  cwd: string | null
}

export const MANAGED_SETTINGS_PATH =
  platform() === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json'

/**
 * Merges user, project, local, `--settings` and managed settings.
 * For each key the later file wins, and `env` is merged by name.
 */
export function readSettings(places: SettingsPlaces): ClientSettings {
  return remembered(JSON.stringify(places), () => mergeSettings(places))
}

const remembered = makeTimedCache<ClientSettings>(1000, 256)

function mergeSettings(places: SettingsPlaces): ClientSettings {
  const { configDir, project, flag, sources, cwd } = places
  const wants = (source: string): boolean => sources === undefined || sources.includes(source)
  const layers = [
    configDir !== null && wants('user') ? readFile(join(configDir, 'settings.json'), SETTINGS_OWNER) : null,
    project !== null && wants('project') ? readFile(join(project, '.claude', 'settings.json'), 'anyone') : null,
    project !== null && wants('local') ? readFile(join(project, '.claude', 'settings.local.json'), 'anyone') : null,
    flag === undefined ? null : readSettingsFlag(flag, cwd),
    readFile(MANAGED_SETTINGS_PATH, SETTINGS_OWNER),
  ]
  const merged: ClientSettings = { env: {} }
  for (const layer of layers) if (layer !== null) merge(merged, layer)
  return merged
}

/** Returns Claude Code's folder from its environment. */
export function configDirFromEnvironment(env: Record<string, string>): string | null {
  return asText(env.CLAUDE_CONFIG_DIR) ?? (asText(env.HOME) === null ? null : join(env.HOME as string, '.claude'))
}

/**
 * Returns Claude Code's folder from the path of a transcript in it,
 * `<folder>/projects/<project>/<session>.jsonl`.
 * Null for other paths.
 */
export function configDirOfTranscript(transcriptPath: string | null): string | null {
  const projects = transcriptPath === null ? null : dirname(dirname(transcriptPath))
  return projects?.endsWith('/projects') ? dirname(projects) : null
}

function merge(into: ClientSettings, layer: Fields): void {
  if (typeof layer.autoCompactEnabled === 'boolean') into.autoCompactEnabled = layer.autoCompactEnabled
  if (typeof layer.autoContinueAtUsageLimit === 'boolean') into.autoContinue = layer.autoContinueAtUsageLimit
  const window = asNumber(layer.autoCompactWindow)
  if (window !== null) into.autoCompactWindow = window
  const model = asText(layer.model)
  if (model !== null) into.model = model
  const permissions = asObject(layer.permissions)
  const mode = asText(permissions?.defaultMode)
  if (mode !== null) into.permissionMode = mode
  const allowed = asList(permissions?.allow).filter((rule) => typeof rule === 'string')
  if (allowed.length > 0) into.allowed = [...(into.allowed ?? []), ...allowed]
  const asked = hooksOf(layer, 'PreCompact')
  if (Object.values(asObject(layer.enabledPlugins) ?? {}).includes(true)) into.plugins = true
  if (asked > 0) into.askedToCompact = (into.askedToCompact ?? 0) + asked
  for (const [name, value] of Object.entries(asObject(layer.env) ?? {}))
    if (typeof value === 'string') into.env[name] = value
}

function hooksOf(layer: Fields, event: string): number {
  return asList(asObject(layer.hooks)?.[event]).reduce<number>(
    (sum, group) => sum + asList(asObject(group)?.hooks).length,
    0,
  )
}

/** Reads the value of `--settings`: a file or JSON. Null when it cannot be read. */
export function readSettingsFlag(flag: string, cwd: string | null): Fields | null {
  if (flag.trimStart().startsWith('{')) return parseObject(flag)
  return isAbsolute(flag)
    ? readFile(flag, SETTINGS_OWNER)
    : cwd === null
      ? null
      : readFile(resolve(cwd, flag), SETTINGS_OWNER)
}

/**
 * Owner of the user's settings.
 * A package manager may own them: home-manager links them into a store of root.
 */
const SETTINGS_OWNER: FileOwner = 'this-user-or-root'

const CACHED_FILES = 64
const LARGEST_FILE = 1024 * 1024
const cache = new Map<string, { stamp: string; fields: Fields | null }>()

/** Reads a file, cached by modification time and size for long-lived processes. */
function readFile(path: string, owner: FileOwner): Fields | null {
  const looked = lookAtNamedFile(path, owner)
  if ('refused' in looked || looked.size > LARGEST_FILE) return null
  const stamp = `${looked.mtimeMs} ${looked.size} ${looked.ino}`
  const kept = cache.get(path)
  if (kept?.stamp === stamp) return kept.fields
  const fields = parseObject(readNamedText(path, { owner, most: LARGEST_FILE }) ?? '')
  cache.delete(path)
  cache.set(path, { stamp, fields })
  if (cache.size > CACHED_FILES) cache.delete(cache.keys().next().value as string)
  return fields
}
