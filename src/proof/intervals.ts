/** Fixed seed, so that the same transcripts give the same intervals. */
export const SEED = 20260622
export const REPLICATES = 2_000
const OUTSIDE = 0.025
const Z = 1.96

/** Bounds of a 95 % interval. Null when there is nothing to resample. */
export type Interval = [low: number, high: number] | null

/** Four digits say more than any interval of a few compactions means. */
const rounded = (share: number): number => Math.round(share * 10_000) / 10_000

/** Returns a generator of numbers from 0 to 1 (mulberry32), the same sequence for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Returns the bootstrap interval of a figure over resampled cases.
 * `figure` returns null for a sample in which the figure does not exist.
 */
export function bootstrap<Case>(cases: readonly Case[], figure: (sample: readonly Case[]) => number | null): Interval {
  const random = seededRandom(SEED)
  const figures: number[] = []
  for (let i = 0; i < REPLICATES && cases.length > 0; i++) {
    const one = figure(cases.map(() => cases[Math.floor(random() * cases.length)]!))
    if (one !== null) figures.push(one)
  }
  if (figures.length === 0) return null
  figures.sort((a, b) => a - b)
  const at = (share: number): number =>
    rounded(figures[Math.min(figures.length - 1, Math.floor(share * figures.length))]!)
  return [at(OUTSIDE), at(1 - OUTSIDE)]
}

/** Returns the Wilson interval of a share of independent trials. */
export function wilsonInterval(count: number, of: number): Interval {
  if (of === 0) return null
  const p = count / of
  const spread = Z * Math.sqrt((p * (1 - p)) / of + Z ** 2 / (4 * of ** 2))
  const middle = p + Z ** 2 / (2 * of)
  const scale = 1 + Z ** 2 / of
  return [rounded(Math.max(0, (middle - spread) / scale)), rounded(Math.min(1, (middle + spread) / scale))]
}
