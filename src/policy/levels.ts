import type { Level, ResolvedLevel } from '../contract/level.js'
import type { Limits } from '../contract/reading.js'

/** Places levels in one session's window, lowest first. A level that cannot be placed comes last. */
export function resolveLevels(levels: readonly Level[], limits: Limits): ResolvedLevel[] {
  const kept = placed.get(levels)
  if (kept && kept.window === limits.window && kept.point === limits.point) return kept.resolved
  const resolved = placeAll(levels, limits)
  placed.set(levels, { window: limits.window, point: limits.point, resolved })
  return resolved
}

/** The same levels are placed in the same window thousands of times. */
const placed = new WeakMap<readonly Level[], { window: number | null; point: number | null; resolved: ResolvedLevel[] }>()

function placeAll(levels: readonly Level[], limits: Limits): ResolvedLevel[] {
  return levels.map((level) => resolveLevel(level, limits)).sort((a, b) => (a.atTokens ?? Infinity) - (b.atTokens ?? Infinity))
}

function resolveLevel(level: Level, limits: Limits): ResolvedLevel {
  const atTokens = tokensAt(level, limits)
  const reachable = atTokens !== null && (limits.point === null || atTokens < limits.point)
  return { ...level, atTokens, reachable }
}

function tokensAt({ at }: Level, limits: Limits): number | null {
  switch (at.of) {
    case 'tokens':
      return at.tokens
    case 'compaction':
      return limits.point === null ? null : Math.ceil((limits.point * at.percent) / 100)
    case 'window':
      return limits.window === null ? null : Math.ceil((limits.window * at.percent) / 100)
    case 'before-compaction':
      return limits.point === null ? null : Math.max(1, limits.point - at.tokens)
  }
}
