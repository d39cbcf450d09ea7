import { Hono } from 'hono'
import { mount, type ServerEnv } from './mount.js'
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

/** Everything but signals, which have a door of their own. Who asks is told in the environment of each request. */
export function makeApp(parts: ServerParts): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>()
  const handlers = {
    ...{ ...health(parts), ...sessions(parts), ...messages(parts), ...events(parts), ...jobs(parts) },
    ...{ ...briefs(parts), ...archives(parts), ...settings(parts) },
  }
  mount(app, handlers, WITHOUT_WORDS)
  app.route('/', contextUsage(parts))
  app.notFound((c) => c.json({ error: `Nothing at ${c.req.path}`, hint: 'See docs/server.md for the routes' }, 404))
  app.onError((error, c) => {
    parts.log('error', 'a request failed', { path: c.req.path, reason: error.message })
    return c.json({ error: 'The request failed', hint: 'See the log file; baton doctor names it' }, 500)
  })
  return app
}
