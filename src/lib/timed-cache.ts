/** Caches values by key for `ms` milliseconds, at most `most` of them, oldest dropped first. */
export function makeTimedCache<T>(
  ms: number,
  most: number,
  clock: () => number = Date.now,
): (key: string, ask: () => T) => T {
  const kept = new Map<string, { until: number; value: T }>()
  return (key, ask) => {
    const now = clock()
    const known = kept.get(key)
    if (known && known.until > now) return known.value
    const value = ask()
    kept.delete(key)
    kept.set(key, { until: now + ms, value })
    if (kept.size > most) kept.delete(kept.keys().next().value as string)
    return value
  }
}
