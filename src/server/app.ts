import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { CallerEnv } from './access.js'
import { type EntranceParts, entrance } from './entrance.js'
import { mount } from './mount.js'
import { describeRoutes } from './openapi.js'
import type { ServerParts } from './parts.js'
import { archives } from './routes/archives.js'
import { briefs } from './routes/briefs.js'
import { contextUsage } from './routes/context-usage.js'
import { events } from './routes/events.js'
import { health } from './routes/health.js'
import { jobs } from './routes/jobs.js'
import { messages } from './routes/messages.js'
import { sessions } from './routes/sessions.js'
import { settings } from './routes/settings.js'
import { WITHOUT_WORDS } from './without-words.js'

/** A brief may have a million characters. */
const MAX_BODY = 4 * 1024 * 1024

/** Everything but signals, which have a door of their own. Handlers find out who asks in `c.env`. */
export function makeApp(parts: ServerParts, doors: Pick<EntranceParts, 'token' | 'locked'>): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>()
  app.use(bodyLimit({ maxSize: MAX_BODY, onError: (c) => c.json({ error: 'The body is too large', hint: 'Send less' }, 413) }))
  app.route('/', entrance({ ...doors, version: parts.version, now: parts.now }))
  const handlers = {
    ...{ ...health(parts), ...sessions(parts), ...messages(parts), ...events(parts), ...jobs(parts) },
    ...{ ...briefs(parts), ...archives(parts), ...settings(parts) },
  }
  mount(app, handlers, WITHOUT_WORDS)
  app.get('/api/openapi.json', async (c) => c.json(await describeRoutes(parts.version)))
  app.route('/', contextUsage(parts))
  app.notFound((c) => c.json({ error: `Nothing at ${c.req.path}`, hint: '/api/openapi.json names the routes' }, 404))
  app.onError((error, c) => {
    parts.log('error', 'a request failed', { path: c.req.path, reason: error.message })
    return c.json({ error: 'The request failed', hint: 'See the log file; baton doctor names it' }, 500)
  })
  return app
}
