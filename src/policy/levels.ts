import { asksForHandoff, type Level, type Position, type ResolvedLevel } from '../contract/level.js'
import type { Limits } from '../contract/reading.js'
import type { Track } from '../contract/records/session.js'

/** Places levels in one session's window, lowest first. Levels without a place come last. */
export function resolveLevels(levels: readonly Level[], limits: Limits): ResolvedLevel[] {
  const kept = placed.get(levels)
  if (kept && kept.window === limits.window && kept.point === limits.point) return kept.resolved
  const resolved = placeAll(levels, limits)
  placed.set(levels, { window: limits.window, point: limits.point, resolved })
  return resolved
}

/** Cached, because the same levels are placed in the same window thousands of times. */
const placed = new WeakMap<
  readonly Level[],
  { window: number | null; point: number | null; resolved: ResolvedLevel[] }
>()

function placeAll(levels: readonly Level[], limits: Limits): ResolvedLevel[] {
  return levels
    .map((level) => resolveLevel(level, limits))
    .sort((a, b) => (a.atTokens ?? Infinity) - (b.atTokens ?? Infinity))
}

function resolveLevel(level: Level, limits: Limits): ResolvedLevel {
  const atTokens = tokensAt(level.at, limits)
  const reachable = atTokens !== null && (limits.point === null || atTokens < limits.point)
  return { ...level, atTokens, reachable, capped: isCapped(level.at, limits) }
}

/**
 * Returns the token count of a level's position.
 * Null until the window is known, which for `85% or 300k` decides which part comes first.
 */
function tokensAt(at: Position, limits: Limits): number | null {
  switch (at.of) {
    case 'tokens':
      return at.tokens
    case 'compaction':
      return limits.point === null ? null : Math.ceil((limits.point * at.percent) / 100)
    case 'window':
      return limits.window === null ? null : Math.ceil((limits.window * at.percent) / 100)
    case 'before-compaction':
      return limits.point === null ? null : Math.max(1, limits.point - at.tokens)
    case 'first': {
      const places = at.positions.flatMap((position) => tokensAt(position, limits) ?? [])
      return places.length < at.positions.length ? null : Math.min(...places)
    }
  }
}

function isCapped(at: Position, limits: Limits): boolean {
  if (at.of !== 'first') return false
  const cap = at.positions.find(({ of }) => of === 'tokens')
  const other = at.positions.find(({ of }) => of !== 'tokens')
  const [capTokens, otherTokens] = [cap, other].map((position) => position && tokensAt(position, limits))
  return typeof capTokens === 'number' && typeof otherTokens === 'number' && capTokens < otherTokens
}

/**
 * Returns the place of the first reachable level that asks for a handoff. Null when none does.
 * Gauges mark it.
 */
export function handoffTokens(levels: readonly ResolvedLevel[]): number | null {
  return levels.find((level) => level.reachable && asksForHandoff(level))?.atTokens ?? null
}

/**
 * Minimum growth of a step, as a share of the compaction point.
 * Growth is uneven, so a step may also add twice as much as the one before.
 */
const LEAST_SHARE = 0.03

/**
 * Returns true when one of the next two answers may reach a level that has actions.
 * A hook is then worth waiting for, so that the agent gets the message in the same batch.
 */
export function isNearLevel(track: Track, levels: readonly ResolvedLevel[]): boolean {
  // Before the first answer of a cycle every level may be near: a cycle may begin above it.
  return track.used === null || track.used >= nearLevelFrom(track, levels)
}

/** Returns the tokens from which on a level is near. Infinite when no level has actions left. */
export function nearLevelFrom(track: Track, levels: readonly ResolvedLevel[]): number {
  const next = nextLevelAt(track, levels)
  const [before, last] = track.seen.slice(-2)
  const growth = before !== undefined && last !== undefined ? Math.max(0, last - before) : 0
  const reach = 2 * Math.max(growth, (track.limits.point ?? 0) * LEAST_SHARE)
  return next - reach
}

/** Returns the place of the next level that has actions. Infinite when none is left. */
export function nextLevelAt(track: Track, levels: readonly ResolvedLevel[]): number {
  const latched = new Set(track.latched.map((latch) => latch.name))
  const isNext = (level: ResolvedLevel): boolean =>
    level.atTokens !== null && level.actions.length > 0 && !latched.has(level.name)
  return levels.find(isNext)?.atTokens ?? Number.POSITIVE_INFINITY
}
