import { Hono } from 'hono'
import type { ServerParts } from '../parts.js'
import { detailWithoutWords, sessionWithoutWords, withoutWords } from '../withhold.js'

/** Figures: sessions, their readings, the event stream's past. Need no token on loopback. */
export function live(parts: ServerParts): Hono {
  const app = new Hono()
  const missing = (id: string) => ({ error: `No session or seat ${id}`, hint: 'baton status --all lists them' })

  app.get('/health', (c) =>
    c.json({ ok: true, version: parts.version, pid: process.pid, uptime_seconds: Math.round(process.uptime()) }),
  )

  app.get('/api/sessions', (c) => c.json({ sessions: parts.recent(c.req.query('all') !== undefined).map(sessionWithoutWords) }))

  app.get('/api/sessions/:id', (c) => {
    const record = parts.find(c.req.param('id'))
    return record ? c.json(detailWithoutWords(parts.detail(record))) : c.json(missing(c.req.param('id')), 404)
  })

  app.get('/api/sessions/:id/readings', (c) => {
    const record = parts.find(c.req.param('id'))
    if (!record) return c.json(missing(c.req.param('id')), 404)
    const readings = parts.store.readings(record.sessionId, 10_000).map((r) => ({
      at: r.at,
      cycle: r.cycle,
      used_tokens: r.used,
      window_tokens: r.window,
      compaction_tokens: r.point,
      model: r.model,
      source: r.source,
      exact: r.exact,
    }))
    return c.json({ session_id: record.sessionId, readings })
  })

  app.get('/api/events', (c) => {
    const since = c.req.query('since')
    const asked = c.req.query('session')
    const session = asked === undefined ? undefined : parts.find(asked)?.sessionId
    if (asked !== undefined && session === undefined) return c.json(missing(asked), 404)
    const limit = Math.max(1, Math.min(Math.floor(Number(c.req.query('limit') ?? 1000)) || 1000, 10_000))
    const query =
      since === undefined ? {} : /^\d+$/.test(since) ? { afterId: Number(since) } : { since: new Date(since).toISOString() }
    const events = parts.store.events({ ...query, ...(session ? { sessionId: session } : {}), limit })
    return c.json({ events: events.map(withoutWords) })
  })
  return app
}
