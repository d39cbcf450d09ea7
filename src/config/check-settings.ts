import * as v from 'valibot'
import { checkAgents } from './check-agents.js'
import { checkLevels, isEntry, type Reach } from './check-levels.js'
import { type LayerSource, PRESET_NAMES, type PresetName } from './compiled.js'
import type { Finding } from './finding.js'
import { presetLevels } from './presets.js'
import { configSchema, type Written } from './schema.js'
import { unknownKeys } from './unknown-keys.js'
import { unsay } from './value-kinds.js'

export interface Checked {
  findings: Finding[]
  /** Only without findings. */
  written: Written | null
  /** What a higher source may refer to. */
  reach: Reach
}

export const BUILT_IN: Reach = { levels: new Set(presetLevels(['default']).keys()), hooks: new Map() }

/** Everything wrong in what one source says, in the order of the file's keys. `below` is what lower sources offer. */
export function checkSettings(raw: unknown, source: LayerSource, below: Reach): Checked {
  const value = raw ?? {}
  const parsed = v.safeParse(configSchema, value)
  if (!isEntry(value)) return { findings: (parsed.issues ?? []).map(findingOf), written: null, reach: below }
  const reach: Reach = { levels: levelsIn(value, below.levels), hooks: hooksIn(value, below.hooks) }
  const base: Reach = { levels: levelsIn({ ...value, levels: undefined }, below.levels), hooks: reach.hooks }
  const findings = [
    ...(parsed.issues ?? []).map(findingOf),
    ...unknownKeys(configSchema, value),
    ...checkLevels(value.levels, ['levels'], base),
    ...checkOverrides(value.overrides, reach),
    ...checkMonitor(value.context_monitor),
    ...checkAgents(value.agents, source, reach),
  ]
  return { findings: inOrder(findings, value), written: findings.length === 0 && parsed.success ? parsed.output : null, reach }
}

function findingOf(issue: v.BaseIssue<unknown>): Finding {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  return { path, ...unsay(issue.message) }
}

function checkOverrides(overrides: unknown, reach: Reach): Finding[] {
  if (!Array.isArray(overrides)) return []
  return overrides.flatMap((override: unknown, index) => {
    if (!isEntry(override)) return []
    const levels = levelsIn({ presets: override.presets }, reach.levels)
    const says = Object.keys(override).some((key) => key !== 'when' && override[key] !== null)
    const empty: Finding[] = says
      ? []
      : [
          {
            path: ['overrides', index],
            reason: 'changes nothing',
            hint: 'add a key beside `when`, such as `presets`, or remove the entry',
          },
        ]
    return [...empty, ...checkLevels(override.levels, ['overrides', index, 'levels'], { ...reach, levels })]
  })
}

function checkMonitor(monitor: unknown): Finding[] {
  if (!isEntry(monitor)) return []
  const warning = monitor.warning_percentage ?? 50
  const critical = monitor.critical_percentage ?? 65
  if (typeof warning !== 'number' || typeof critical !== 'number' || warning < critical) return []
  const key = monitor.critical_percentage === undefined ? 'warning_percentage' : 'critical_percentage'
  const reason = `levels must rise: critical (${critical}) does not lie above warning (${warning})`
  return [{ path: ['context_monitor', key], reason, hint: 'write a warning_percentage below the critical_percentage' }]
}

/** The names of the levels a source leaves behind; null when a wrong preset leaves that open. */
function levelsIn(value: Record<string, unknown>, below: Reach['levels']): Reach['levels'] {
  let names = below
  if (value.presets !== undefined && value.presets !== null) {
    if (!Array.isArray(value.presets) || !value.presets.every(isPreset)) return null
    names = new Set(presetLevels(value.presets).keys())
  }
  const own = Array.isArray(value.levels) ? value.levels.filter(isEntry).map(({ name }) => String(name)) : []
  const monitor = isEntry(value.context_monitor) ? ['warning', 'critical'] : []
  return names && new Set([...names, ...monitor, ...own])
}

function isPreset(name: unknown): name is PresetName {
  return (PRESET_NAMES as readonly unknown[]).includes(name)
}

function hooksIn(value: Record<string, unknown>, below: Reach['hooks']): Reach['hooks'] {
  const own = isEntry(value.hooks) ? Object.entries(value.hooks) : []
  return new Map([...below, ...own.map(([name, hook]) => [name, isEntry(hook) ? hook.type : undefined] as const)])
}

/** As a reader meets them: by the file's keys, then by place in a list. */
function inOrder(findings: Finding[], value: Record<string, unknown>): Finding[] {
  const keys = Object.keys(value)
  const rank = ({ path }: Finding) => keys.indexOf(String(path[0])) * 10_000 + (typeof path[1] === 'number' ? path[1] : 0)
  return [...findings].sort((a, b) => rank(a) - rank(b))
}
