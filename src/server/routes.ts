import type { RouteName } from '../contract/api/routes.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { EventQuery } from '../store/store.js'
import type { ServerDependencies } from './dependencies.js'
import type { RouteHandlers } from './mount.js'

/** Routes that `serve-http.ts` or `entrance.ts` handle. */
type HandledElsewhere = 'health' | 'access' | 'ticket' | 'enter'

/** Number of entries sent to a caller that sets no `limit`. */
const DEFAULT_LIMITS = {
  readings: 10_000,
  curve: 100_000,
  messages: 200,
  allMessages: 1_000,
  events: 1_000,
  entries: 200,
}

/**
 * Handlers of all routes. Each handler calls a use case.
 * Each route is declared in `contract/api/`, with its path and schemas.
 * A route without a handler here does not compile.
 */
export function routeHandlers(deps: ServerDependencies): RouteHandlers<Exclude<RouteName, HandledElsewhere>> {
  const { store, useCases } = deps
  return {
    sessions: ({ query }) => ({ sessions: deps.recent({ all: query.all !== undefined }) }),
    session: ({ id }) => deps.detail(namedSession(deps, id)),
    readings({ id, query }) {
      const { sessionId } = namedSession(deps, id)
      const readings = store.readings(sessionId, query.limit ?? DEFAULT_LIMITS.readings).map((r) => ({
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
      const { sessionId } = namedSession(deps, id)
      const readings = store.readings(sessionId, query.limit ?? DEFAULT_LIMITS.curve)
      return {
        session_id: sessionId,
        at: readings.map(({ at }) => Date.parse(at)),
        used_tokens: readings.map(({ used }) => used),
        cycle: readings.map(({ cycle }) => cycle),
        window_tokens: readings.map(({ window }) => window),
        compaction_tokens: readings.map(({ point }) => point),
      }
    },
    forecast: ({ id }) => deps.forecast(namedSession(deps, id)),
    handOff: ({ id, body }) => useCases.handOff(namedSession(deps, id), body.reason),
    cancelHandoff: ({ id }) => useCases.cancelHandoff(namedSession(deps, id)),
    switchSession({ id, body }) {
      useCases.switchSession(namedSession(deps, id), body.enabled)
      return { enabled: body.enabled }
    },
    nameSeat: ({ id, body }) => useCases.nameSeatOf(namedSession(deps, id), body.name),
    forget: ({ id }) => useCases.forget(namedSession(deps, id)),

    allMessages: ({ query }) => ({
      messages: useCases.allMessages(query.seat ?? null, query.limit ?? DEFAULT_LIMITS.allMessages),
    }),
    messages: ({ id, query }) => ({
      messages: useCases.sessionMessages(namedSession(deps, id), query.limit ?? DEFAULT_LIMITS.messages),
    }),
    send: ({ id, body }) => useCases.send(namedSession(deps, id), body.text, body.mode),
    unsend: ({ id }) => useCases.unsend(id),

    /** Lists events, oldest first: those after an event or a time, else the newest events. */
    events({ query: { since, session, job, without_readings, limit } }) {
      const of = session === undefined ? {} : { sessionId: namedSession(deps, session).sessionId }
      const ofJob = job === undefined ? {} : { jobId: useCases.job(job).job_id }
      const quiet: EventQuery = without_readings === undefined ? {} : { readings: 'none' }
      return {
        events: store.events({ ...of, ...ofJob, ...sinceOf(since), ...quiet, limit: limit ?? DEFAULT_LIMITS.events }),
      }
    },

    jobs: ({ query }) => ({ jobs: useCases.jobs(query.all !== undefined) }),
    job: ({ id }) => useCases.job(id),
    jobLog: ({ id, query }) => useCases.jobLog(id, query.after ?? null),
    startJob: ({ body }) => useCases.startJob(body),
    cancelJob: ({ id }) => useCases.cancelJob(id),
    pauseJob: ({ id }) => useCases.pauseJob(id),
    resumeJob: ({ id }) => useCases.resumeJob(id),
    projects: () => useCases.projects(),

    briefs: ({ query }) => ({ briefs: useCases.briefs(query) }),
    brief: ({ id }) => useCases.brief(id),
    editBrief: ({ id, body }) => useCases.editBrief(id, body.text),
    holdBrief: ({ id, body }) => useCases.holdBrief(id, body.editing),
    approveBrief: ({ id }) => useCases.approveBrief(id),
    cancelBrief: ({ id }) => useCases.cancelBrief(id),

    archives: ({ query }) => useCases.archives(query),
    searchArchives: ({ query }) => useCases.search(query),
    archive: ({ id }) => useCases.archive(id),
    transcript: ({ id, query: { from = 1, before = null, limit = DEFAULT_LIMITS.entries, subagent = null, whole } }) =>
      useCases.transcript(id, { from, before, limit, subagent, whole: whole !== undefined }),
    restoreArchive: ({ id, body }) => useCases.restore(id, body),

    history: ({ query }) => useCases.history(query),
    config: ({ query }) => useCases.settings(query.session === undefined ? null : namedSession(deps, query.session)),
    doctor: ({ query }) => useCases.doctor(query.fresh !== undefined),
  }
}

/** Finds a session, or a seat's current one, by id, name or prefix. Throws when none match. */
function namedSession(deps: Pick<ServerDependencies, 'find'>, id: string): SessionRecord {
  const record = deps.find(id)
  if (record) return record
  throw new BatonError(`There is no session or seat ${id}.`, 'Run baton status --all to list them.', EXIT.notFound)
}

function sinceOf(written: string | undefined): EventQuery {
  if (written === undefined) return {}
  if (/^\d{1,15}$/.test(written)) return { afterId: Number(written) }
  const time = Date.parse(written)
  if (!Number.isNaN(time)) return { since: new Date(time).toISOString() }
  throw new BatonError(`since: cannot be "${written}".`, 'Use an event id or an ISO time.', EXIT.usage)
}
