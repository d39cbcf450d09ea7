import { BatonError, EXIT } from '../lib/errors.js'

/** Maps times to dates in one timezone. */
export interface Calendar {
  timezone: string
  /** Returns a date such as `2026-03-01`. */
  dateAt(ms: number): string
}

const QUARTER_MS = 15 * 60_000

/**
 * Creates a calendar in a timezone, or else in that of the machine.
 * Throws a BatonError for an unknown timezone.
 */
export function calendarIn(timezone?: string): Calendar {
  const days = formatIn(timezone)
  // Cached per quarter of an hour, because every row asks. No timezone changes the date within one.
  const known = new Map<number, string>()
  return {
    timezone: days.resolvedOptions().timeZone,
    dateAt(ms) {
      const quarter = Math.floor(ms / QUARTER_MS)
      const date = known.get(quarter) ?? days.format(ms)
      known.set(quarter, date)
      return date
    },
  }
}

function formatIn(timezone: string | undefined): Intl.DateTimeFormat {
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  try {
    // Swedish dates have the format of ISO 8601.
    return new Intl.DateTimeFormat('sv-SE', { ...digits, ...(timezone === undefined ? {} : { timeZone: timezone }) })
  } catch {
    throw new BatonError(
      `Unknown timezone "${timezone}".`,
      'Use a name such as Europe/Berlin, America/New_York or UTC.',
      EXIT.usage,
    )
  }
}

/** Adds calendar days to a date, unaffected by daylight saving time. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 24 * 3_600_000).toISOString().slice(0, 10)
}
