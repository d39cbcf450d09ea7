const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `24h`, `90m`, `1h 30m`; null: that is no length of time, or one of nothing at all. */
export function parseDuration(written: string): number | null {
  const text = written.trim().toLowerCase().replace(/\s+/g, '')
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return null
  let sum = 0
  for (const [, figure, unit] of text.matchAll(/([\d.]+)([a-z]+)/g)) sum += Number(figure) * UNITS[unit!]!
  const whole = Math.round(sum)
  return whole >= 1 && Number.isSafeInteger(whole) ? whole : null
}
