import { asksForHandoff, type Position } from '../contract/level.js'
import type { JobLevel, JobSpec } from '../contract/records/job.js'

/** Where a session stands. */
export interface Place {
  used: number
  window: number | null
  point: number | null
}

/** Where a level lies in a session; null: cannot be told. */
export function levelAt(at: Position, { window, point }: Pick<Place, 'window' | 'point'>): number | null {
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

/** The levels a session has come to and had not, lowest first. `crossed`: those it has been at in this cycle. */
export function crossings(
  levels: readonly JobLevel[],
  place: Place,
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
 * Where a session is handed off at the latest: the first level that asks for it, or the cap for
 * large windows. Null without either.
 */
export function handoffLevelAt(
  { levels = [], handoffCap = null }: Pick<JobSpec, 'levels' | 'handoffCap'>,
  place: Pick<Place, 'window' | 'point'>,
): number | null {
  const places = levels.filter(asksForHandoff).flatMap(({ at }) => levelAt(at, place) ?? [])
  if (handoffCap !== null) places.push(handoffCap)
  return places.length === 0 ? null : Math.min(...places)
}

/** What the agent is told; '' nothing. */
export function levelText(levels: readonly (JobLevel & { at_tokens: number })[], { used, point }: Place): string {
  const top = levels.findLast(({ actions }) => actions.includes('agent'))
  if (top === undefined) return ''
  const of = point === null ? '' : ` of the ${point.toLocaleString('en-US')} at which it is compacted`
  return `[baton] This session holds ${used.toLocaleString('en-US')} tokens${of}: it has reached the level \`${top.name}\`.`
}

/** What is left below the compaction point for the request of the brief and the brief itself. */
const ROOM_FOR_BRIEF = 6_000

export interface Climb {
  /** Where the client compacts, or refuses; null: not known. */
  point: number | null
  window: number | null
  /** The part of the way that is left when the session is handed over. */
  remaining: number
  /** How much the last batches added, newest last. */
  growth: readonly number[]
  /** Where a level of the agent asks for a handoff; null or absent: none does. */
  level?: number | null
}

/**
 * From how many tokens on a session is stopped; null: nobody knows where it ends, and it is not stopped. One more batch must fit below
 * the point: the client compacts before the request that would cross it, and a batch may bring more than the part that was configured.
 */
export function fullAt(climb: Climb): number | null {
  const [by, level] = [fullByItself(climb), climb.level ?? null]
  return level === null || by === null ? (by ?? level) : Math.min(by, level)
}

function fullByItself({ point, window, remaining, growth }: Climb): number | null {
  const end = point ?? (window === null ? null : Math.floor(window * 0.8))
  if (end === null) return null
  const wanted = Math.floor(end * (1 - clamp(remaining)))
  const most = Math.max(0, ...growth.slice(-8))
  const safe = end - ROOM_FOR_BRIEF - most
  // Whatever one batch brought, half the way is always used: else a session of large steps would be handed over at once.
  return Math.max(Math.floor(end / 2), Math.min(wanted, safe))
}

export function isFull(used: number, climb: Climb): boolean {
  const at = fullAt(climb)
  return at !== null && used >= at
}

/**
 * Whether a session is not full, if it held `before` with its last answer and a batch has brought so many bytes since: a token is a byte at
 * least. False: it may be.
 */
export function hasRoom(before: number, bytes: number, climb: Climb): boolean {
  const most = before + bytes + UNSEEN
  return fullAt(climb) !== null && !isFull(most, { ...climb, growth: [...climb.growth, bytes + UNSEEN] })
}

/** What the client itself adds to a request: reminders, files it was pointed to. */
const UNSEEN = 4_000

const clamp = (part: number): number => Math.min(0.95, Math.max(0.01, part))
