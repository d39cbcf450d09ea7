/** Returns a percentage with one decimal, never negative. Null when a number is unknown. */
export function percentOf(part: number | null, whole: number | null): number | null {
  if (part === null || whole === null || whole <= 0) return null
  return Math.max(0, Math.round((part / whole) * 1000) / 10)
}

/**
 * Returns used and remaining percentage of the compaction point, for `context_warning` and
 * `compaction_start`: whole numbers from 0 to 100 that add up to 100.
 * The result is null when a number is unknown.
 */
export function contextPercentages(
  used: number | null,
  point: number | null,
): { contextUsedPercent: number | null; contextRemainingPercent: number | null } {
  if (used === null || point === null || point <= 0) return { contextUsedPercent: null, contextRemainingPercent: null }
  const whole = Math.min(100, Math.max(0, Math.round((used / point) * 100)))
  return { contextUsedPercent: whole, contextRemainingPercent: 100 - whole }
}

/** Returns the remaining percentage, 0 to 100. Null when a number is unknown. */
export function remainingPercent(part: number | null, whole: number | null): number | null {
  const used = percentOf(part, whole)
  return used === null ? null : Math.max(0, Math.round((100 - used) * 10) / 10)
}
