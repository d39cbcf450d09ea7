import { asksForHandoff, type Position } from '../contract/level.js'
import type { JobLevel, JobSpec } from '../contract/records/job.js'
import { percentText } from '../policy/numbers.js'
import { percentOf } from '../policy/percent.js'

/** Context usage of a session. */
interface ContextPosition {
  used: number
  window: number | null
  point: number | null
}

/** Returns the tokens at which a level (warning threshold) lies. Null when that is unknown. */
export function levelAt(at: Position, { window, point }: Pick<ContextPosition, 'window' | 'point'>): number | null {
  switch (at.of) {
    case 'tokens':
      return at.tokens
    case 'window':
      return window === null ? null : Math.floor((window * at.percent) / 100)
    case 'compaction':
      return point === null ? null : Math.floor((point * at.percent) / 100)
    case 'before-compaction':
      return point === null ? null : point - at.tokens
    case 'first': {
      const places = at.positions.flatMap((position) => levelAt(position, { window, point }) ?? [])
      return places.length < at.positions.length ? null : Math.min(...places)
    }
  }
}

/**
 * Returns the levels (warning thresholds) newly reached, lowest first.
 * `crossed` are the levels already reached in this cycle.
 */
export function findCrossings(
  levels: readonly JobLevel[],
  place: ContextPosition,
  crossed: readonly string[],
): (JobLevel & { at_tokens: number })[] {
  return levels
    .flatMap((level) => {
      const at = levelAt(level.at, place)
      return at === null || at > place.used || crossed.includes(level.name) ? [] : [{ ...level, at_tokens: at }]
    })
    .toSorted((one, other) => one.at_tokens - other.at_tokens)
}

/**
 * Returns the tokens at which a session is handed off at the latest.
 * The first level that requests a handoff decides, or the cap for large windows.
 */
export function handoffLevelAt(
  { levels = [], handoffCap = null }: Pick<JobSpec, 'levels' | 'handoffCap'>,
  place: Pick<ContextPosition, 'window' | 'point'>,
): number | null {
  const places = levels.filter(asksForHandoff).flatMap(({ at }) => levelAt(at, place) ?? [])
  if (handoffCap !== null) places.push(handoffCap)
  return places.length === 0 ? null : Math.min(...places)
}

/** Returns the text for the agent about reached levels. Empty when there is none. */
export function levelText(
  levels: readonly (JobLevel & { at_tokens: number })[],
  { used, point }: ContextPosition,
): string {
  const top = levels.findLast(({ actions }) => actions.includes('agent'))
  if (top === undefined) return ''
  const percent = percentOf(used, point)
  const of = percent === null ? '' : `, ${percentText(percent)} of the compaction point`
  return `[baton] Context level "${top.name}": ${used.toLocaleString('en-US')} tokens used${of}.`
}

/** Tokens reserved below the compaction point for the request of the brief and the brief. */
const ROOM_FOR_BRIEF = 6_000

export interface ContextGrowth {
  /** Tokens at which the client compacts or refuses. Null when unknown. */
  point: number | null
  window: number | null
  /** Fraction of the context that is left when the session is handed off. */
  remaining: number
  /** Tokens that the last batches added, newest last. */
  growth: readonly number[]
  /** Tokens at which a level requests a handoff. Null or absent without such a level. */
  level?: number | null
}

/**
 * Returns the token count from which on a session is stopped. Null when its limit is unknown.
 * One more batch must fit below the compaction point.
 * The client compacts before a request that would cross that point.
 * A batch may add more tokens than the configured reserve.
 */
export function stopAtTokens(climb: ContextGrowth): number | null {
  const [by, level] = [fullByGrowth(climb), climb.level ?? null]
  return level === null || by === null ? (by ?? level) : Math.min(by, level)
}

function fullByGrowth({ point, window, remaining, growth }: ContextGrowth): number | null {
  const end = point ?? (window === null ? null : Math.floor(window * 0.8))
  if (end === null) return null
  const wanted = Math.floor(end * (1 - clamp(remaining)))
  const most = Math.max(0, ...growth.slice(-8))
  const safe = end - ROOM_FOR_BRIEF - most
  // At least half of the context is used.
  // Without this minimum, a session with large steps would hand off at once.
  return Math.max(Math.floor(end / 2), Math.min(wanted, safe))
}

export function isSessionFull(used: number, climb: ContextGrowth): boolean {
  const at = stopAtTokens(climb)
  return at !== null && used >= at
}

/**
 * True when a session is surely not full after a batch of that many bytes.
 * A token has at least one byte, so bytes are an upper bound.
 */
export function hasRoomForBatch(before: number, bytes: number, climb: ContextGrowth): boolean {
  const most = before + bytes + CLIENT_OVERHEAD
  return (
    stopAtTokens(climb) !== null &&
    !isSessionFull(most, { ...climb, growth: [...climb.growth, bytes + CLIENT_OVERHEAD] })
  )
}

/** Tokens that the client itself adds to a request, such as reminders and referenced files. */
const CLIENT_OVERHEAD = 4_000

const clamp = (part: number): number => Math.min(0.95, Math.max(0.01, part))
