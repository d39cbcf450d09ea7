import type { Action } from '../contract/level.js'
import type { CompiledConfig, Hook, Layer, LevelChange, Settings, When } from './compiled.js'
import type { WrittenLevel } from './level-schema.js'
import { targetOf } from './notify-schema.js'
import { parsePosition } from './position.js'
import type { Written, WrittenPolicy } from './schema.js'

/** One checked source, laid on top of a configuration. `userHome` stands for `~` in project patterns. */
export function addLayer(
  config: CompiledConfig,
  written: Written,
  { source, from }: Pick<Layer, 'source' | 'from'>,
  userHome: string,
): CompiledConfig {
  const overrides = (written.overrides ?? []).map(({ when, ...policy }) => ({
    when: patternsOf(when, userHome),
    set: settingsOf(policy),
  }))
  const set = withMonitor(settingsOf(written), written.context_monitor)
  return {
    ...config,
    layers: [...config.layers, { source, from, set, overrides }],
    budgets: { ...config.budgets, ...present(written.budgets) },
    limits: { ...config.limits, ...present(written.limits) },
    prices: { ...config.prices, ...mapValues(written.prices, present) },
    hooks: { ...config.hooks, ...mapValues(written.hooks, (hook) => present(hook) as Hook) },
    agents: { ...config.agents, ...agentsByName(written.agents) },
  }
}

function agentsByName(agents: Written['agents']): CompiledConfig['agents'] {
  return Array.isArray(agents) ? Object.fromEntries(agents.map((agent) => [agent.name, agent])) : (agents ?? {})
}

function settingsOf(written: WrittenPolicy): Settings {
  const { handoff, guards, archive, status_line: statusLine } = written
  return present({
    enabled: written.enabled,
    presets: written.presets,
    levels: written.levels?.map((level, index) => changeOf(level, `levels[${index}]`)),
    compaction: written.compaction,
    mustSurvive: written.must_survive,
    handoff:
      handoff &&
      present({
        mode: handoff.mode,
        largeWindow: handoff.large_window,
        reviewSeconds: handoff.review_seconds,
        bar: handoff.bar,
        fork: handoff.fork,
      }),
    guards:
      guards &&
      present({
        minNewTokens: guards.min_new_tokens,
        maxUnattendedPerHour: guards.max_unattended_per_hour,
        cooldownSeconds: guards.cooldown_seconds,
        breakerAfter: guards.breaker_after,
      }),
    archive: archive && {
      ...present({ enabled: archive.enabled, at: archive.at, redact: archive.redact }),
      // Here null says something: kept without end, whatever a lower source says.
      ...(archive.keep_days === undefined ? {} : { keepDays: archive.keep_days }),
      ...(archive.keep_bytes === undefined ? {} : { keepBytes: archive.keep_bytes }),
    },
    statusLine: statusLine && {
      ...present({ segments: statusLine.segments, style: statusLine.style }),
      ...(statusLine.width === undefined ? {} : { width: statusLine.width }),
    },
    notify: written.notify?.map(targetOf),
  })
}

function changeOf({ name, at, actions, mode }: WrittenLevel, key: string): LevelChange {
  const parsed = parsePosition(at)
  const position = parsed.ok ? { at: parsed.at, rule: parsed.rule } : {}
  return { name, ...position, ...present({ actions: actions as Action[] | null | undefined, mode }), key }
}

/** `context_monitor` is the preset `sm` with figures of its own, under the file's own `enabled` and `levels`. */
function withMonitor(set: Settings, monitor: Written['context_monitor']): Settings {
  if (!monitor) return set
  const presets = set.presets ?? []
  const figures = [
    ['warning', monitor.warning_percentage, 'warning_percentage'],
    ['critical', monitor.critical_percentage, 'critical_percentage'],
  ] as const
  const levels = figures.flatMap(([name, percent, key]): LevelChange[] =>
    typeof percent === 'number'
      ? [{ name, at: { of: 'window', percent }, rule: `${percent}% of window`, key: `context_monitor.${key}` }]
      : [],
  )
  return {
    ...present({ enabled: monitor.enabled }),
    ...set,
    presets: presets.includes('sm') ? presets : [...presets, 'sm'],
    levels: [...levels, ...(set.levels ?? [])],
  }
}

function patternsOf(when: NonNullable<Written['overrides']>[number]['when'], userHome: string): When {
  const { project, ...rest } = mapValues(present(when), (pattern) =>
    typeof pattern === 'string' ? [pattern] : (pattern ?? []),
  )
  return project ? { ...rest, project: project.map((pattern) => pattern.replace(/^~(?=\/|$)/, userHome)) } : rest
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> }

/** Without the keys that were not written. */
function present<T extends object>(written: T | null | undefined): Present<T> {
  return Object.fromEntries(
    Object.entries(written ?? {}).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>
}

function mapValues<T, R>(map: Record<string, T> | null | undefined, turn: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(map ?? {}).map(([key, value]) => [key, turn(value)]))
}
