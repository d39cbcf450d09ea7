import { BatonError, EXIT } from '../lib/errors.js'

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `1234` is an event's id, `10m` a time ago, everything else a date or time. Throws when it is none of them. */
export function parseSince(written: string, now: Date): { afterId: number } | { since: string } {
  if (/^\d+$/.test(written)) return { afterId: Number(written) }
  const ago = /^(\d+)([smhd])$/.exec(written)
  if (ago) return { since: new Date(now.getTime() - Number(ago[1]) * UNITS[ago[2]!]!).toISOString() }
  const time = /^\d{4}-\d\d-\d\d/.test(written) ? Date.parse(written) : Number.NaN
  if (Number.isNaN(time)) {
    throw new BatonError(
      `--since cannot be "${written}".`,
      'Give an event id (1234), an ISO time (2026-01-31T12:00:00Z) or a time ago (10m, 2h, 1d).',
      EXIT.usage,
    )
  }
  return { since: new Date(time).toISOString() }
}
