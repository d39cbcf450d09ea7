/**
 * Severity of a level, from 0 (none crossed) to 4, for its colour and shape.
 * Baton's own levels have a fixed severity; a user's level gets one by the session's percentage.
 */
export type Severity = 0 | 1 | 2 | 3 | 4

const RANKS: Readonly<Record<string, Severity>> = {
  notice: 1,
  caution: 2,
  warning: 2,
  handoff: 3,
  auto_pause: 3,
  critical: 4,
}

export function severityOf(level: string | null, compactionPercent: number | null): Severity {
  if (level === null) return 0
  return RANKS[level] ?? severityAt(compactionPercent)
}

export function severityAt(percent: number | null): Severity {
  if (percent === null || percent < 50) return 1
  return percent >= 95 ? 4 : percent >= 85 ? 3 : percent >= 70 ? 2 : 1
}
