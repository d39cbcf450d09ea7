import { BatonError, EXIT } from '../lib/errors.js'

/** Which day it is where. */
export interface Calendar {
  timezone: string
  /** `2026-03-01`. */
  dateAt(ms: number): string
}

const QUARTER_MS = 15 * 60_000

/** Left out: the machine's own timezone. Throws a `BatonError` for one that nobody knows. */
export function calendarIn(timezone?: string): Calendar {
  const days = formatIn(timezone)
  // Asked for every row of a table: a quarter of an hour lies in one day everywhere.
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
    // Sweden writes dates as ISO 8601 does.
    return new Intl.DateTimeFormat('sv-SE', { ...digits, ...(timezone === undefined ? {} : { timeZone: timezone }) })
  } catch {
    throw new BatonError(
      `There is no timezone "${timezone}".`,
      'Give one such as Europe/Berlin, America/New_York or UTC.',
      EXIT.usage,
    )
  }
}

/** Days of the calendar, whatever clocks do in between. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 24 * 3_600_000).toISOString().slice(0, 10)
}
