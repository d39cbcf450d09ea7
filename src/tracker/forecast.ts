import type { Track } from '../contract/records/session.js'

/** How a climb grew lately: tokens per step, and how much single steps differ from that. */
export interface Growth {
  perStep: number
  spread: number
  /** How many steps it was taken from. */
  steps: number
}

/** Steps until a place in the climb, and the range four of five such climbs end in. */
export interface StepsLeft {
  steps: number
  low: number
  high: number
}

/** Four of five: so many spreads to either side. */
const FOUR_OF_FIVE = 1.28
/** A figure beyond says only that it is far. */
const FURTHEST = 1_000_000
/** A person who went to lunch is not part of the pace. */
const LONGEST_GAP_MS = 10 * 60_000

/** Plain growth over the figures of this cycle that are remembered. null: too few of them yet, or it did not grow. */
export function growthOf({ seen }: Pick<Track, 'seen'>): Growth | null {
  const steps = seen.length - 1
  if (steps < 1) return null
  const perStep = (seen.at(-1)! - seen[0]!) / steps
  if (perStep <= 0) return null
  const off = seen.slice(1).reduce((sum, figure, i) => sum + (figure - seen[i]! - perStep) ** 2, 0)
  return { perStep, spread: steps < 2 ? perStep / 2 : Math.sqrt(off / (steps - 1)), steps }
}

/**
 * How many steps lie before so many tokens. Two things make it unsure: single steps differ, which evens out over many of them, and the growth
 * itself was taken from a few steps, which does not.
 */
export function stepsTo(tokens: number, { perStep, spread, steps: known }: Growth): StepsLeft {
  if (tokens <= 0) return { steps: 0, low: 0, high: 0 }
  const steps = tokens / perStep
  const unsure = (FOUR_OF_FIVE * spread * Math.sqrt(steps + steps ** 2 / known)) / perStep
  const whole = (value: number): number => Math.min(FURTHEST, Math.max(1, Math.ceil(value)))
  return { steps: whole(steps), low: whole(steps - unsure), high: whole(steps + unsure) }
}

/** Steps until compaction; null when its point or the growth is not known. */
export function stepsToCompaction(track: Pick<Track, 'seen' | 'used' | 'limits'>): number | null {
  const growth = growthOf(track)
  const { point } = track.limits
  return growth === null || point === null || track.used === null ? null : stepsTo(point - track.used, growth).steps
}

/** Milliseconds from one step to the next. null: too few are known. Times are those of readings, oldest first. */
export function paceOf(times: readonly number[]): number | null {
  if (times.length < 2) return null
  const gaps = times.slice(1).map((time, i) => Math.min(LONGEST_GAP_MS, Math.max(0, time - times[i]!)))
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
}
