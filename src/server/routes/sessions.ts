import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'
import { namedSession } from './named-session.js'

const USUAL = 10_000

type SessionRoute = 'sessions' | 'session' | 'readings' | 'curve' | 'forecast' | 'switchSession' | 'forget'

/** Sessions and their climbs. */
export function sessions(parts: ServerParts): Handlers<SessionRoute> {
  return {
    sessions: ({ query }) => ({ sessions: parts.recent({ all: query.all !== undefined }) }),
    session: ({ id }) => parts.detail(namedSession(parts, id)),
    readings({ id, query }) {
      const { sessionId } = namedSession(parts, id)
      const readings = parts.store.readings(sessionId, query.limit ?? USUAL).map((r) => ({
        at: r.at,
        cycle: r.cycle,
        used_tokens: r.used,
        window_tokens: r.window,
        compaction_tokens: r.point,
        model: r.model,
        source: r.source,
        exact: r.exact,
      }))
      return { session_id: sessionId, readings }
    },
    curve({ id, query }) {
      const { sessionId } = namedSession(parts, id)
      const readings = parts.store.readings(sessionId, query.limit ?? 100_000)
      return {
        session_id: sessionId,
        at: readings.map(({ at }) => Date.parse(at)),
        used_tokens: readings.map(({ used }) => used),
        cycle: readings.map(({ cycle }) => cycle),
        window_tokens: readings.map(({ window }) => window),
        compaction_tokens: readings.map(({ point }) => point),
      }
    },
    forecast: ({ id }) => parts.forecast(namedSession(parts, id)),
    switchSession({ id, body }) {
      parts.rooms.switchSession(namedSession(parts, id), body.enabled)
      return { enabled: body.enabled }
    },
    forget: ({ id }) => parts.rooms.forget(namedSession(parts, id)),
  }
}
