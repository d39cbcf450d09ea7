import { BatonError, EXIT } from '../lib/errors.js'

const HOUR_MS = 3_600_000
const AGES: Record<string, number> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS }
const SIZES: Record<string, number> = {
  b: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
}

/** Parses `12h`, `30d`, `8w` or a date. Returns the ISO time before which something is too old. */
export function parseAge(written: string, now: Date): string {
  const ago = /^(\d{1,6})([hdw])$/i.exec(written)
  if (ago) return new Date(now.getTime() - Number(ago[1]) * AGES[ago[2]!.toLowerCase()]!).toISOString()
  const time = /^\d{4}-\d\d-\d\d/.test(written) ? Date.parse(written) : Number.NaN
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new BatonError(
    `--older-than cannot be "${written}".`,
    'Give an age (12h, 30d, 8w) or a date (2026-01-31).',
    EXIT.usage,
  )
}

/**
 * Parses `10GB`, `500MB` or `2GiB`.
 * Refuses a number without a unit: one meant in gigabytes would remove everything.
 */
export function parseSize(written: string): number {
  const [, figure, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(written) ?? []
  const times = Number(figure) === 0 && unit === '' ? 1 : SIZES[unit.toLowerCase()]
  if (figure !== undefined && times !== undefined) return Math.floor(Number(figure) * times)
  throw new BatonError(`--max-size cannot be "${written}".`, 'Give a size such as 10GB, 500MB or 2GiB.', EXIT.usage)
}

export function parseLimit(written: string | null, otherwise: number): number {
  if (written === null) return otherwise
  const limit = Number(written)
  if (/^\d+$/.test(written) && limit > 0 && limit <= 1000) return limit
  throw new BatonError(`--limit cannot be "${written}".`, 'Give a number from 1 to 1000.', EXIT.usage)
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses `1234` as an event id, `10m` as a time ago, and anything else as a date or time.
 * Throws when it is none of them.
 */
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

export const DEFAULT_PORT = 8420

/**
 * Returns the port of the command line, or of the environment, or the default. 0 is any free port.
 */
export function portFrom(flag: string | null, env: Record<string, string | undefined>, usual: number): number {
  if (flag !== null) return parsePort(flag, '--port')
  return env.BATON_PORT ? parsePort(env.BATON_PORT, 'BATON_PORT') : usual
}

export function parsePort(written: string, name: string): number {
  const port = /^\d{1,5}$/.test(written) ? Number(written) : Number.NaN
  if (port <= 65_535) return port
  throw new BatonError(
    `${name} cannot be "${written}".`,
    'Give a port from 1 to 65535, or 0 for any free one.',
    EXIT.usage,
  )
}
