/** One decimal, never negative. null when either figure is unknown. */
export function percentOf(part: number | null, whole: number | null): number | null {
  if (part === null || whole === null || whole <= 0) return null
  return Math.max(0, Math.round((part / whole) * 1000) / 10)
}

/** What is used of the whole, 0 to 100: with what remains it makes 100. */
export function usedPercent(part: number | null, whole: number | null): number | null {
  const used = percentOf(part, whole)
  return used === null ? null : Math.min(100, used)
}

/** What is left of the whole, 0 to 100. */
export function remainingPercent(part: number | null, whole: number | null): number | null {
  const used = percentOf(part, whole)
  return used === null ? null : Math.max(0, Math.round((100 - used) * 10) / 10)
}
