import { Hono } from 'hono'
import type { ServerParts } from './parts.js'
import { contextUsage } from './routes/context-usage.js'
import { jobs } from './routes/jobs.js'
import { live } from './routes/live.js'

/** `words`: everybody who gets this far has given the token. */
export function makeApp(parts: ServerParts, words: boolean): Hono {
  const app = new Hono()
  app.route('/', live(parts))
  app.route('/', contextUsage(parts))
  app.route('/', jobs(parts, words))
  app.notFound((c) => c.json({ error: `Nothing at ${c.req.path}`, hint: 'See docs/server.md for the routes' }, 404))
  app.onError((error, c) => {
    if (error instanceof RangeError) return c.json({ error: error.message, hint: 'since= takes an event id or an ISO time' }, 400)
    parts.log('error', 'a request failed', { path: c.req.path, reason: error.message })
    return c.json({ error: 'The request failed', hint: 'See the log file; baton doctor names it' }, 500)
  })
  return app
}
