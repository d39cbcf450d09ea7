import type { LevelAction } from '../contract/level.js'
import type { CompiledConfig, ConfigLayer, HookSettings, LayerSettings, LevelChange, OverrideWhen } from './compiled.js'
import type { WrittenLevel } from './level-schema.js'
import { toNotifyTarget } from './notify-schema.js'
import { parsePosition } from './position.js'
import type { WrittenConfig, WrittenPolicy } from './schema.js'

/**
 * Adds one checked source on top of a configuration.
 * `userHome` replaces `~` in project patterns.
 */
export function addLayer(
  config: CompiledConfig,
  written: WrittenConfig,
  { source, from }: Pick<ConfigLayer, 'source' | 'from'>,
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
    budgets: { ...config.budgets, ...withoutEmpty(written.budgets) },
    limits: { ...config.limits, ...withoutEmpty(written.limits) },
    prices: { ...config.prices, ...mapValues(written.prices, withoutEmpty) },
    hooks: { ...config.hooks, ...mapValues(written.hooks, (hook) => withoutEmpty(hook) as HookSettings) },
    agents: { ...config.agents, ...agentsByName(written.agents) },
  }
}

function agentsByName(agents: WrittenConfig['agents']): CompiledConfig['agents'] {
  return Array.isArray(agents) ? Object.fromEntries(agents.map((agent) => [agent.name, agent])) : (agents ?? {})
}

function settingsOf(written: WrittenPolicy): LayerSettings {
  const { handoff, guards, archive, status_line: statusLine } = written
  return withoutEmpty({
    enabled: written.enabled,
    presets: written.presets,
    levels: written.levels?.map((level, index) => changeOf(level, `levels[${index}]`)),
    compaction: written.compaction,
    mustSurvive: written.must_survive,
    handoff:
      handoff &&
      withoutEmpty({
        mode: handoff.mode,
        largeWindow: handoff.large_window,
        reviewSeconds: handoff.review_seconds,
        bar: handoff.bar,
        fork: handoff.fork,
      }),
    guards:
      guards &&
      withoutEmpty({
        minNewTokens: guards.min_new_tokens,
        maxUnattendedPerHour: guards.max_unattended_per_hour,
        cooldownSeconds: guards.cooldown_seconds,
        breakerAfter: guards.breaker_after,
      }),
    archive: archive && {
      ...withoutEmpty({ enabled: archive.enabled, at: archive.at, redact: archive.redact }),
      // Null has a meaning here: kept forever, whatever a lower source says.
      ...(archive.keep_days === undefined ? {} : { keepDays: archive.keep_days }),
      ...(archive.keep_bytes === undefined ? {} : { keepBytes: archive.keep_bytes }),
    },
    statusLine: statusLine && {
      ...withoutEmpty({ segments: statusLine.segments, style: statusLine.style }),
      ...(statusLine.width === undefined ? {} : { width: statusLine.width }),
    },
    notify: written.notify?.map(toNotifyTarget),
  })
}

function changeOf({ name, at, actions, mode }: WrittenLevel, key: string): LevelChange {
  const parsed = parsePosition(at)
  const position = parsed.ok ? { at: parsed.at, rule: parsed.rule } : {}
  return { name, ...position, ...withoutEmpty({ actions: actions as LevelAction[] | null | undefined, mode }), key }
}

/** Applies `context_monitor`: the preset `sm` with other percentages, below the file's own keys. */
function withMonitor(set: LayerSettings, monitor: WrittenConfig['context_monitor']): LayerSettings {
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
    ...withoutEmpty({ enabled: monitor.enabled }),
    ...set,
    presets: presets.includes('sm') ? presets : [...presets, 'sm'],
    levels: [...levels, ...(set.levels ?? [])],
  }
}

function patternsOf(when: NonNullable<WrittenConfig['overrides']>[number]['when'], userHome: string): OverrideWhen {
  const { project, ...rest } = mapValues(withoutEmpty(when), (pattern) =>
    typeof pattern === 'string' ? [pattern] : (pattern ?? []),
  )
  return project ? { ...rest, project: project.map((pattern) => pattern.replace(/^~(?=\/|$)/, userHome)) } : rest
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> }

/** Removes keys whose value is null or undefined. */
function withoutEmpty<T extends object>(written: T | null | undefined): Present<T> {
  return Object.fromEntries(
    Object.entries(written ?? {}).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>
}

function mapValues<T, R>(map: Record<string, T> | null | undefined, turn: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(map ?? {}).map(([key, value]) => [key, turn(value)]))
}
