import type { IncomingMessage, RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Caller, CallerEnv } from './access.js'
import { contextUsageRoutes } from './context-usage.js'
import type { ServerDependencies } from './dependencies.js'
import { entranceRoutes } from './entrance.js'
import type { BoundServer } from './guard.js'
import { mountRoutes } from './mount.js'
import { describeRoutes } from './openapi.js'
import { routeHandlers } from './routes.js'

/** Maximum size of a request's body: a brief may have a million characters. */
const MAX_BODY = 4 * 1024 * 1024

/**
 * Builds all routes except signals, the event stream and `/health`.
 * Callers were checked before. Handlers find the caller in `c.env`.
 */
function makeApp(
  deps: ServerDependencies,
  { token, pageUrl = null }: Pick<BoundServer, 'token' | 'pageUrl'>,
): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>()
  // Mounted before the general limit of 4 MB, because the entrance has a limit of its own (4 kB).
  app.route('/', entranceRoutes({ token, pageUrl, version: deps.version, now: deps.now }))
  app.use(
    bodyLimit({
      maxSize: MAX_BODY,
      onError: (c) => c.json({ error: 'The body is too large.', hint: 'Send a smaller body.' }, 413),
    }),
  )
  mountRoutes(app, routeHandlers(deps))
  app.get('/api/openapi.json', async (c) =>
    c.json(await describeRoutes(deps.version, Object.keys(deps.engine.deps.agents))),
  )
  app.route('/', contextUsageRoutes(deps))
  app.notFound((c) =>
    c.json({ error: `There is no route ${c.req.path}.`, hint: 'See /api/openapi.json for all routes.' }, 404),
  )
  app.onError((error, c) => {
    deps.log('error', 'a request failed', { path: c.req.path, reason: error.message })
    return c.json({ error: 'The request failed.', hint: 'Run baton doctor to find the log file with the cause.' }, 500)
  })
  return app
}

/**
 * Returns the listener for all routes.
 * Loaded separately, because the routes need as much memory as all signals together.
 * A server that only hooks call never needs these routes.
 */
export function appListener(
  deps: ServerDependencies,
  bound: BoundServer,
  callerOf: (request: IncomingMessage) => Caller,
): RequestListener {
  const app = makeApp(deps, bound)
  return getRequestListener((request, env) => {
    const { incoming } = env as { incoming: IncomingMessage }
    return app.fetch(request, { ...callerOf(incoming), address: incoming.socket.remoteAddress ?? '' })
  })
}
