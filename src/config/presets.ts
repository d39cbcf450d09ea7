import type { DeliveryMode, Level, LevelAction, Position, SinglePosition } from '../contract/level.js'
import type { PresetName } from './compiled.js'

type Row = [name: string, percent: number, actions: LevelAction[], mode: DeliveryMode]

/**
 * Presets with levels of their own.
 * `full-window` is `default` without token limits, and `quiet` silences the others.
 */
const TABLES: Record<Exclude<PresetName, 'quiet' | 'full-window'>, { of: 'compaction' | 'window'; rows: Row[] }> = {
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

/**
 * Latest place of the default levels, in thousands of tokens.
 * In a 1M window 85 % are 822k tokens, where a step costs several times as much as at 100k.
 * Windows of 200k are not affected.
 */
const CAPS: Record<string, number> = { notice: 150, warning: 225, handoff: 300 }

/** Returns the levels of several presets. A later preset replaces a level of the same name. */
export function presetLevels(names: readonly PresetName[]): Map<string, Level> {
  const quiet = names.includes('quiet')
  const capped = !names.includes('full-window')
  const tables = names.filter((name) => name !== 'quiet')
  if (quiet && tables.length === 0) tables.push('default')
  const levels = new Map<string, Level>()
  for (const preset of tables) {
    const { of, rows } = TABLES[preset === 'full-window' ? 'default' : preset]
    for (const [name, percent, actions, mode] of rows) {
      const cap = preset === 'default' && capped ? CAPS[name] : undefined
      const place: SinglePosition = { of, percent }
      const at: Position =
        cap === undefined ? place : { of: 'first', positions: [place, { of: 'tokens', tokens: cap * 1_000 }] }
      const rule = `${percent}%${of === 'window' ? ' of window' : ''}${cap === undefined ? '' : ` or ${cap}k`}`
      const level: Level = { name, at, actions: [...actions], mode, rule, from: `preset ${preset}` }
      if (preset === 'tens') level.emitsWarning = true
      levels.set(name, quiet ? silenced(level) : level)
    }
  }
  return levels
}

function silenced(level: Level): Level {
  const actions: LevelAction[] = level.name === 'critical' ? ['user'] : []
  return { ...level, actions, mode: 'sequential', from: `${level.from}, silenced by preset quiet` }
}
