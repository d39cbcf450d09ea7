import { Hono } from 'hono'
import * as v from 'valibot'
import { ROUTES } from '../contract/api/routes.js'
import { type CallerEnv, KEY_MS, makeKey, sameSecret } from './access.js'
import { FILES_COOKIE } from './guard.js'
import { makeDelay, makePatience, makeTickets } from './tickets.js'

const MAX_BODY = 4_096

export interface EntranceParts {
  version: string
  token: string
  /** Files of the page need the token too: a browser that entered gets a cookie for them. */
  locked: boolean
  now(): Date
}

/** How a browser comes by its key. Neither tickets nor keys are ever in an address that a server sees. */
export function entrance({ version, token, locked, now }: EntranceParts): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>()
  const tickets = makeTickets()
  const patience = makePatience()
  const slowly = makeDelay()

  app.get(ROUTES.access.path, (c) => c.json({ words: c.env.words, expires_at: c.env.expiresAt, version }))

  // A key alone could otherwise be renewed for ever.
  app.post(ROUTES.ticket.path, (c) => {
    if (c.env.by !== 'token') return c.json({ error: 'A ticket is given for the token', hint: 'baton open asks for one' }, 401)
    const { ticket, expiresAt } = tickets.make(now())
    return c.json({ ticket, expires_at: expiresAt })
  })

  app.post(ROUTES.enter.path, async (c) => {
    if (!/^application\/json\b/i.test(c.req.header('content-type') ?? ''))
      return c.json({ error: 'The body has to be JSON', hint: 'Content-Type: application/json' }, 400)
    if (Number(c.req.header('content-length') ?? 0) > MAX_BODY) return c.json({ error: 'The body is too large' }, 413)
    const given = v.safeParse(ROUTES.enter.body, await c.req.json().catch(() => null))
    if (!given.success) return c.json({ error: 'Give a ticket or the token', hint: '{"ticket": "…"} or {"token": "…"}' }, 400)
    const good = 'ticket' in given.output ? tickets.take(given.output.ticket, now()) : sameSecret(given.output.token, token)
    // All users of a machine share one address: whoever is wrong is slowed down, and whoever is right is let in all the same.
    if (!good) {
      const wait = patience.failed(c.env.address, now())
      if (wait > 0) {
        await slowly()
        return c.json({ error: 'Too many wrong tries', hint: `Try again in ${wait} s` }, 429, { 'Retry-After': String(wait) })
      }
      const spent = 'The ticket is spent or its minute is over'
      return c.json(
        { error: 'ticket' in given.output ? spent : 'That is not the token', hint: 'baton open lets a browser in' },
        401,
      )
    }
    const { key, expiresAt } = makeKey(token, 'page', now())
    if (locked) c.header('Set-Cookie', filesCookie(makeKey(token, 'files', now()).key))
    return c.json({ key, expires_at: expiresAt })
  })
  return app
}

const filesCookie = (key: string): string =>
  `${FILES_COOKIE}=${key}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${KEY_MS / 1_000}`
