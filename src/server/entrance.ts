import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as v from 'valibot'
import { ROUTES } from '../contract/api/routes.js'
import { type CallerEnv, makeKey, sameSecret } from './access.js'

const MAX_BODY = 4_096

interface EntranceDependencies {
  version: string
  token: string
  /** Address of the page. Null when it is the server's own. */
  pageUrl: string | null
  now(): Date
  /** Resolves when a caller with too many wrong tries is answered. Defaults to one second. */
  delay?: () => Promise<void>
}

/** Routes that give a browser its key. Tickets and keys are never sent in an address. */
export function entranceRoutes({
  version,
  token,
  pageUrl,
  now,
  delay = makeWrongTryDelay(),
}: EntranceDependencies): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>()
  const tickets = makeTickets()
  const failures = makeFailureLimit()

  app.get(ROUTES.access.path, (c) => c.json({ expires_at: c.env.expiresAt, version, pid: process.pid }))

  // Only the token buys a ticket. Otherwise a key could be renewed for ever.
  app.post(ROUTES.ticket.path, (c) => {
    if (c.env.by !== 'token')
      return c.json({ error: 'A ticket needs the token.', hint: 'Run baton open, which requests a ticket.' }, 401)
    const { ticket, expiresAt } = tickets.make(now())
    return c.json({ ticket, expires_at: expiresAt, page_url: pageUrl })
  })

  // Any user of the machine may call this route. The body is limited to 4 kB to save memory.
  const limit = bodyLimit({ maxSize: MAX_BODY, onError: (c) => c.json({ error: 'The body is too large.' }, 413) })
  app.post(ROUTES.enter.path, limit, async (c) => {
    if (!/^application\/json\b/i.test(c.req.header('content-type') ?? ''))
      return c.json({ error: 'The body must be JSON.', hint: 'Content-Type: application/json' }, 400)
    const given = v.safeParse(ROUTES.enter.body, await c.req.json().catch(() => null))
    if (!given.success)
      return c.json(
        { error: 'The body has neither a ticket nor the token.', hint: 'Send {"ticket": "…"} or {"token": "…"}.' },
        400,
      )
    const good =
      'ticket' in given.output ? tickets.take(given.output.ticket, now()) : sameSecret(given.output.token, token)
    // All users of a machine share one address. Delay wrong tries, and accept right ones meanwhile.
    if (!good) {
      const wait = failures.failed(c.env.address, now())
      if (wait > 0) {
        await delay()
        return c.json({ error: 'Too many failed attempts.', hint: `Try again in ${wait} s.` }, 429, {
          'Retry-After': String(wait),
        })
      }
      const spent = 'The ticket was used before, or it is older than a minute.'
      return c.json(
        {
          error: 'ticket' in given.output ? spent : 'The token is wrong.',
          hint: 'Run baton open to open the page in a browser.',
        },
        401,
      )
    }
    const { key, expiresAt } = makeKey(token, now())
    return c.json({ key, expires_at: expiresAt })
  })
  return app
}

export const TICKET_MS = 60_000
const MAX_TICKETS = 100

interface Tickets {
  make(now: Date): { ticket: string; expiresAt: string }
  /** Returns true once per ticket, and only before it expires. */
  take(ticket: string, now: Date): boolean
}

/** Tickets that each let one browser in within a minute. A restart makes them invalid. */
export function makeTickets(random: () => string = randomTicket): Tickets {
  const ends = new Map<string, number>()
  return {
    make(now) {
      for (const [ticket, end] of ends) if (end <= now.getTime() || ends.size >= MAX_TICKETS) ends.delete(ticket)
      const ticket = random()
      const end = now.getTime() + TICKET_MS
      ends.set(ticket, end)
      return { ticket, expiresAt: new Date(end).toISOString() }
    },
    take(ticket, now) {
      const end = ends.get(ticket)
      ends.delete(ticket)
      return end !== undefined && end > now.getTime()
    },
  }
}

const randomTicket = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url')

const WINDOW_MS = 60_000
const MAX_FAILURES = 10
const MAX_ADDRESSES = 1_000

interface FailureLimit {
  /** Records a wrong try. Returns the seconds until the address may try again, 0 for at once. */
  failed(address: string, now: Date): number
}

/** Limits wrong tries to ten a minute per address. */
export function makeFailureLimit(): FailureLimit {
  const tries = new Map<string, number[]>()
  const recent = (address: string, now: Date): number[] =>
    (tries.get(address) ?? []).filter((at) => at > now.getTime() - WINDOW_MS)
  return {
    failed(address, now) {
      const before = recent(address, now)
      if (before.length >= MAX_FAILURES) return Math.ceil((before[0]! + WINDOW_MS - now.getTime()) / 1_000)
      if (tries.size >= MAX_ADDRESSES) tries.clear()
      tries.set(address, [...before, now.getTime()])
      return 0
    },
  }
}

const DELAY_MS = 1_000
const MAX_DELAYED = 100

/**
 * Delays answers to wrong tries by a second, so a day has at most 86,400 of them in sequence.
 * At most `MAX_DELAYED` answers are delayed at once, so that a flood cannot fill the memory.
 */
export function makeWrongTryDelay(): () => Promise<void> {
  let delayed = 0
  return async () => {
    if (delayed >= MAX_DELAYED) return
    delayed++
    await new Promise((resolve) => setTimeout(resolve, DELAY_MS).unref())
    delayed--
  }
}
