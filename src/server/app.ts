import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { CallerEnv } from './access.js'
import { type EntranceParts, entrance } from './entrance.js'
import type { ServerParts } from './parts.js'
import { contextUsage } from './routes/context-usage.js'
import { jobs } from './routes/jobs.js'
import { live } from './routes/live.js'

/** A brief may have a million characters. */
const MAX_BODY = 4 * 1024 * 1024

/** Handlers find out who asks in `c.env`. */
export function makeApp(parts: ServerParts, doors: Pick<EntranceParts, 'token' | 'locked'>): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>()
  app.use(bodyLimit({ maxSize: MAX_BODY, onError: (c) => c.json({ error: 'The body is too large', hint: 'Send less' }, 413) }))
  app.route('/', entrance({ ...doors, version: parts.version, now: parts.now }))
  app.route('/', live(parts))
  app.route('/', contextUsage(parts))
  app.route('/', jobs(parts))
  app.notFound((c) => c.json({ error: `Nothing at ${c.req.path}`, hint: 'See docs/server.md for the routes' }, 404))
  app.onError((error, c) => {
    if (error instanceof RangeError) return c.json({ error: error.message, hint: 'since= takes an event id or an ISO time' }, 400)
    parts.log('error', 'a request failed', { path: c.req.path, reason: error.message })
    return c.json({ error: 'The request failed', hint: 'See the log file; baton doctor names it' }, 500)
  })
  return app
}
