import type { ConfigProblem } from '../contract/policy.js'
import { nearestName } from '../lib/nearest-name.js'
import { type CompiledConfig, type ConfigLayer, type LayerSettings, PRESET_NAMES, type PresetName } from './compiled.js'

export type Env = Record<string, string | undefined>

const ON = ['1', 'true', 'yes', 'on']
const OFF = ['0', 'false', 'no', 'off']

/**
 * Adds the settings of the environment on top of a configuration.
 * An invalid variable is a problem and changes nothing.
 */
export function withEnvironment(
  config: CompiledConfig,
  env: Env,
): { config: CompiledConfig; problems: ConfigProblem[] } {
  const set: LayerSettings = {}
  const problems: ConfigProblem[] = []
  readEnabled(env.BATON_ENABLED, set, problems)
  readPresets(env.BATON_PRESETS, set, problems)
  if (Object.keys(set).length === 0) return { config, problems }
  const layer: ConfigLayer = { source: 'environment', from: 'environment', set, overrides: [] }
  return { config: { ...config, layers: [...config.layers, layer] }, problems }
}

function readEnabled(written: string | undefined, set: LayerSettings, problems: ConfigProblem[]): void {
  const word = written?.trim().toLowerCase()
  if (!word) return
  if (ON.includes(word)) set.enabled = true
  else if (OFF.includes(word)) set.enabled = false
  else
    problems.push(
      problem('BATON_ENABLED', `expected 1 or 0, got \`${written}\``, 'set `BATON_ENABLED=1` or `BATON_ENABLED=0`'),
    )
}

function readPresets(written: string | undefined, set: LayerSettings, problems: ConfigProblem[]): void {
  if (!written?.trim()) return
  const names = written.split(',').map((name) => name.trim())
  if (names.length === 1 && names[0] === 'none') {
    set.presets = []
    return
  }
  const unknown = names.filter((name) => !isPreset(name))
  for (const name of unknown) {
    const nearest = nearestName(name, PRESET_NAMES)
    const hint = nearest
      ? `did you mean \`${nearest}\`?`
      : `known presets: ${PRESET_NAMES.join(', ')}; \`none\` for no levels`
    problems.push(problem('BATON_PRESETS', `unknown preset \`${name}\``, hint))
  }
  if (unknown.length === 0) set.presets = names.filter(isPreset)
}

function isPreset(name: string): name is PresetName {
  return (PRESET_NAMES as readonly string[]).includes(name)
}

function problem(key: string, reason: string, hint: string): ConfigProblem {
  return { key, file: 'environment', reason, hint }
}
