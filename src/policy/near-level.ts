import type { ResolvedLevel } from '../contract/level.js'
import type { Track } from '../contract/record.js'

/** Growth is uneven: a step is expected to bring up to twice what the last one did, and at least this share of the point. */
const LEAST_SHARE = 0.03

/**
 * Whether one of the next two answers may reach a level that has something to say. Then a hook is worth waiting for, so that
 * the agent hears of it in the same batch.
 */
export function isNearLevel(track: Track, levels: readonly ResolvedLevel[]): boolean {
  // Nothing answered since the reset: a cycle may begin above a level.
  if (track.used === null) return true
  const latched = new Set(track.latched.map((latch) => latch.name))
  const next = levels.find((level) => level.atTokens !== null && level.actions.length > 0 && !latched.has(level.name))
  if (!next) return false
  const [before, last] = track.seen.slice(-2)
  const growth = before !== undefined && last !== undefined ? Math.max(0, last - before) : 0
  const reach = 2 * Math.max(growth, (track.limits.point ?? 0) * LEAST_SHARE)
  return track.used + reach >= next.atTokens!
}
