import type { Action, Level, Mode, Position } from '../contract/level.js'
import type { PresetName } from './compiled.js'

type Row = [name: string, percent: number, actions: Action[], mode: Mode]

/** `quiet` is not a table of its own: it silences whatever stands beside it. */
const TABLES: Record<Exclude<PresetName, 'quiet'>, { of: 'compaction' | 'window'; rows: Row[] }> = {
  default: {
    of: 'compaction',
    rows: [
      ['notice', 50, ['user', 'agent'], 'sequential'],
      ['warning', 70, ['user', 'agent'], 'sequential'],
      ['handoff', 85, ['user', 'agent', 'request-handoff'], 'important'],
      ['critical', 95, ['user', 'agent', 'hand-off'], 'urgent'],
    ],
  },
  sm: {
    of: 'window',
    rows: [
      ['warning', 50, ['user', 'agent'], 'sequential'],
      ['critical', 65, ['user', 'agent', 'request-handoff'], 'urgent'],
    ],
  },
  mpm: {
    of: 'compaction',
    rows: [
      ['caution', 70, ['user', 'agent'], 'sequential'],
      ['warning', 85, ['user', 'agent'], 'sequential'],
      ['auto_pause', 90, ['user', 'agent', 'request-handoff'], 'important'],
      ['critical', 95, ['user', 'agent'], 'urgent'],
    ],
  },
  tens: {
    of: 'compaction',
    rows: [10, 20, 30, 40, 50, 60, 70, 80, 90].map((used): Row => [`remaining-${100 - used}`, used, [], 'sequential']),
  },
}

/** The levels of several presets together: a later preset replaces a level of the same name, in its place. */
export function presetLevels(names: readonly PresetName[]): Map<string, Level> {
  const quiet = names.includes('quiet')
  const tables = names.filter((name) => name !== 'quiet')
  if (quiet && tables.length === 0) tables.push('default')
  const levels = new Map<string, Level>()
  for (const preset of tables) {
    const { of, rows } = TABLES[preset]
    for (const [name, percent, actions, mode] of rows) {
      const at: Position = { of, percent }
      const rule = of === 'window' ? `${percent}% of window` : `${percent}%`
      const level: Level = { name, at, actions: [...actions], mode, rule, from: `preset ${preset}` }
      levels.set(name, quiet ? silenced(level) : level)
    }
  }
  return levels
}

function silenced(level: Level): Level {
  const actions: Action[] = level.name === 'critical' ? ['user'] : []
  return { ...level, actions, mode: 'sequential', from: `${level.from}, silenced by preset quiet` }
}
