import type { IncomingMessage, RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Caller } from './access.js'
import { makeApp } from './app.js'
import type { Bound } from './guard.js'
import type { ServerParts } from './parts.js'

/** The routes. Apart from the way of a request, because they take as much memory as all signals together: a server that only hooks ask never has them. */
export function appListener(parts: ServerParts, bound: Bound, callerOf: (request: IncomingMessage) => Caller): RequestListener {
  const app = makeApp(parts, bound)
  return getRequestListener((request, env) => {
    const { incoming } = env as { incoming: IncomingMessage }
    return app.fetch(request, { ...callerOf(incoming), address: incoming.socket.remoteAddress ?? '' })
  })
}
