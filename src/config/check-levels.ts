import type { Position } from '../contract/level.js'
import { nearestName } from '../lib/nearest-name.js'
import type { KeyPath } from '../lib/yaml-file.js'
import type { ConfigFinding } from './finding.js'
import { MOST_LEVELS } from './level-schema.js'
import { comparePositions, parsePosition } from './position.js'

/**
 * Names that a list of levels may refer to.
 * `levels` is null when they are unknown; then no reference is refused.
 */
export interface KnownNames {
  levels: ReadonlySet<string> | null
  /** Types of the hooks by name, as written. */
  hooks: ReadonlyMap<string, unknown>
}

type Entry = Record<string, unknown>

/**
 * Checks that the schema cannot make for one entry alone.
 * Reads the raw list, so that one wrong entry hides no other.
 * `hooksRun`: false where hooks never run, so an action that names one is refused.
 */
export function checkLevels(written: unknown, path: KeyPath, reach: KnownNames, hooksRun: boolean): ConfigFinding[] {
  if (!Array.isArray(written) || written.length > MOST_LEVELS) return []
  const entries = written.map((entry, index) => ({ entry: isObject(entry) ? entry : {}, path: [...path, index] }))
  return [
    ...entries.flatMap(({ entry, path }) => [
      ...checkWhole(entry, path, reach),
      ...checkHooks(entry, path, reach, hooksRun),
    ]),
    ...checkNames(entries),
    ...checkRising(entries),
  ]
}

function checkWhole(entry: Entry, path: KeyPath, { levels }: KnownNames): ConfigFinding[] {
  const { name, at, actions, mode } = entry
  if (typeof name !== 'string' || !levels) return []
  if (!levels.has(name) && isNothing(at)) {
    const hint = (): string => {
      const nearest = nearestName(name, [...levels])
      return nearest
        ? `did you mean the level \`${nearest}\`? A new level needs \`at\`, such as \`at: 70%\``
        : 'add `at`, such as `at: 70%`'
    }
    return [{ path, reason: `there is no level \`${name}\` to change, and a new level needs \`at\``, hint }]
  }
  if (isNothing(at) && isNothing(actions) && isNothing(mode)) {
    return [
      {
        path,
        reason: `the entry for \`${name}\` has only a name, so it changes nothing`,
        hint: 'add `at`, `actions` or `mode`, or remove the entry',
      },
    ]
  }
  return []
}

function checkHooks(entry: Entry, path: KeyPath, { hooks }: KnownNames, hooksRun: boolean): ConfigFinding[] {
  if (!Array.isArray(entry.actions)) return []
  return entry.actions.flatMap((action: unknown, index): ConfigFinding[] => {
    const match = typeof action === 'string' ? /^(web)?hook:([^\s:]+)$/.exec(action) : null
    if (!match) return []
    const name = match[2]!
    const here = [...path, 'actions', index]
    if (!hooks.has(name)) {
      const hint = (): string => {
        const nearest = nearestName(name, [...hooks.keys()])
        return nearest
          ? `did you mean \`${match[1] ?? ''}hook:${nearest}\`?`
          : `add it: \`hooks: {${name}: {type: ${match[1] ? 'webhook, url: …' : 'shell, command: …'}}}\``
      }
      return [{ path: here, reason: `there is no hook \`${name}\``, hint }]
    }
    if (match[1] && hooks.get(name) === 'shell')
      return [{ path: here, reason: `the hook \`${name}\` is a shell command`, hint: `write \`hook:${name}\`` }]
    if (!hooksRun)
      return [
        {
          path: here,
          reason: `\`${String(action)}\` would have no effect: levels run hooks only in jobs`,
          hint: 'move it to a level of an agent: `agents.<name>.levels`',
        },
      ]
    return []
  })
}

function checkNames(entries: { entry: Entry; path: KeyPath }[]): ConfigFinding[] {
  const seen = new Set<unknown>()
  return entries.flatMap(({ entry: { name }, path }) => {
    if (typeof name !== 'string') return []
    if (seen.has(name))
      return [
        {
          path: [...path, 'name'],
          reason: `two levels are named \`${name}\``,
          hint: 'give each level its own name',
        },
      ]
    seen.add(name)
    return []
  })
}

/** Checks that levels rise. Positions of different kinds can be compared only in a session. */
function checkRising(entries: { entry: Entry; path: KeyPath }[]): ConfigFinding[] {
  const highest: { at: Position; rule: string; name: unknown }[] = []
  return entries.flatMap(({ entry, path }) => {
    const parsed = parsePosition(entry.at)
    if (!parsed.ok) return []
    const { at, rule } = parsed
    const below = highest.find((earlier) => (comparePositions(earlier.at, at) ?? -1) >= 0)
    highest.push({ at, rule, name: entry.name })
    if (!below) return []
    const reason = `levels must rise: \`${rule}\` is not above \`${below.rule}\` of the earlier level \`${below.name}\``
    return [{ path: [...path, 'at'], reason, hint: 'list the levels from lowest to highest' }]
  })
}

export function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined
}
