import type { Track } from '../contract/records/session.js'

/** Recent token growth of a session: tokens per step, and the deviation of single steps. */
export interface Growth {
  perStep: number
  spread: number
  /** Number of steps from which the growth was computed. */
  steps: number
}

/** Steps until a token count is reached, with the range that holds in four of five cases. */
export interface StepsLeft {
  steps: number
  low: number
  high: number
}

/** Standard deviations on either side of the mean that contain four of five cases. */
const FOUR_OF_FIVE = 1.28
/**
 * Share of the mean by which single steps are expected to differ, even if the few known did not.
 */
const LEAST_SPREAD = 0.5
/** Upper limit of steps. A larger number only says that the target is far. */
const FURTHEST = 1_000_000
/** Longest pause that counts. A user's lunch break must not change the pace. */
const LONGEST_GAP_MS = 10 * 60_000

/**
 * The growth that forecasts use: tokens per step (`holdGrowth`) and their spread.
 * The spread is computed from the recorded token counts.
 * Null when the cycle has fewer than two readings or did not grow.
 */
export function growthOf({ seen, perStep }: Pick<Track, 'seen' | 'perStep'>): Growth | null {
  const measured = measureGrowth(seen)
  return measured && { ...measured, perStep: perStep ?? measured.perStep }
}

/**
 * Returns the tokens per step for forecasts after a new reading.
 * `held` is the value that was used before the reading.
 *
 * The mean of the recorded readings falls with every step that is smaller than the mean.
 * A forecast by the mean alone showed more steps left after a third of all steps.
 * Therefore the earlier value is kept while it may still be true.
 * It is replaced once the mean is above it.
 * It is also replaced once the mean is lower than in four of five sessions with that growth.
 */
export function holdGrowth(seen: readonly number[], held: number | null | undefined): number | null {
  const measured = measureGrowth(seen)
  if (measured === null) return null
  const { perStep, steps } = measured
  const spread = Math.max(measured.spread, perStep * LEAST_SPREAD)
  const highest = perStep + (FOUR_OF_FIVE * spread) / Math.sqrt(steps)
  return typeof held === 'number' && held > perStep && held <= highest ? held : perStep
}

function measureGrowth(seen: readonly number[]): Growth | null {
  const steps = seen.length - 1
  if (steps < 1) return null
  const perStep = (seen.at(-1)! - seen[0]!) / steps
  if (perStep <= 0) return null
  const off = seen.slice(1).reduce((sum, figure, i) => sum + (figure - seen[i]! - perStep) ** 2, 0)
  return { perStep, spread: steps < 2 ? perStep * LEAST_SPREAD : Math.sqrt(off / (steps - 1)), steps }
}

/**
 * Returns the whole steps in which `tokens` more are used. 0 when none are left, else at least 1.
 */
export function stepsForTokens(tokens: number, perStep: number): number {
  return tokens <= 0 ? 0 : wholeSteps(tokens / perStep)
}

const wholeSteps = (steps: number): number => Math.min(FURTHEST, Math.max(1, Math.ceil(steps)))

/**
 * Estimates the steps until `tokens` more are used. Two things make the estimate uncertain.
 * Single steps differ, which evens out over many steps.
 * The growth comes from a few steps, which does not even out.
 */
export function estimateSteps(tokens: number, { perStep, spread, steps: known }: Growth): StepsLeft {
  if (tokens <= 0) return { steps: 0, low: 0, high: 0 }
  const steps = tokens / perStep
  const unsure = (FOUR_OF_FIVE * spread * Math.sqrt(steps + steps ** 2 / known)) / perStep
  return { steps: stepsForTokens(tokens, perStep), low: wholeSteps(steps - unsure), high: wholeSteps(steps + unsure) }
}

/** Returns the rounded tokens per step that every view of a session shows. Null while unknown. */
export function tokensPerStep(track: Pick<Track, 'seen' | 'perStep'>): number | null {
  const growth = growthOf(track)
  return growth === null ? null : Math.round(growth.perStep)
}

/**
 * Estimates the steps until compaction. Null when the compaction point or the growth is unknown.
 */
export function stepsToCompaction(track: Pick<Track, 'seen' | 'used' | 'limits'>): number | null {
  const growth = growthOf(track)
  const { point } = track.limits
  return growth === null || point === null || track.used === null
    ? null
    : estimateSteps(point - track.used, growth).steps
}

/**
 * Returns the milliseconds between steps. `times` are those of readings, oldest first.
 * Null when there are fewer than two.
 */
export function millisecondsPerStep(times: readonly number[]): number | null {
  if (times.length < 2) return null
  const gaps = times.slice(1).map((time, i) => Math.min(LONGEST_GAP_MS, Math.max(0, time - times[i]!)))
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
}
