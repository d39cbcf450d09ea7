import * as v from 'valibot'
import { briefRow } from './briefs.js'
import { event } from './event-data.js'
import { job } from './jobs.js'
import { flag, limit, type Routes, words } from './route.js'
import { sessionRow } from './sessions.js'
import { count, maybe, text, time } from './shapes.js'

export { event }

/**
 * `GET /api/live`, server-sent events. After every connect, also with `Last-Event-ID`:
 *
 * 1. `event: snapshot`, data `Snapshot`: what is so now. No `id:`.
 * 2. with `Last-Event-ID`: every event after that id, oldest first, as below, of readings the
 *    newest of each session among the last ones; or `event: gap` where there are too many or the
 *    store is another one, with the newest id as its `id:`; then ask `/api/events` for what
 *    matters.
 * 3. from then on, as it happens:
 *    - unnamed messages, data `Event`, `id:` its id. Readings of one session at most five a second,
 *      the newest; one that comes late has no `id:`. Nothing else is left out.
 *    - `event: session`, data `SessionRow`; `event: job`, data `Job`; `event: brief`, data
 *      `BriefRow`: that row has changed otherwise than its events tell. At most one a second each,
 *      the newest. No `id:`.
 *    - `event: gone`, data `Gone`: that row is no longer shown, because it is forgotten or too old.
 *      It may come back as a row. No `id:`.
 *    - comments as heartbeat.
 *
 * Who cannot follow is dropped and may come back with `Last-Event-ID`.
 */
export const snapshot = v.object({
  /** Everything up to this event is in it. */
  last_event_id: v.pipe(v.number(), v.integer()),
  at: time,
  sessions: v.array(sessionRow),
  jobs: v.array(job),
  /** Those that wait for a review. */
  briefs: v.array(briefRow),
  spend_today: v.object({ cost_usd: maybe(v.number()), input_tokens: count, output_tokens: count }),
  version: text,
})
export const gone = v.object({ kind: v.picklist(['session', 'job', 'brief']), id: text })
export type Gone = v.InferOutput<typeof gone>

export type Snapshot = v.InferOutput<typeof snapshot>

/** The route of past events; `/api/live` sends new ones. */
export const eventRoutes = {
  events: {
    method: 'get',
    path: '/api/events',
    summary: 'What happened',
    query: { since: v.optional(text), session: words, job: words, without_readings: flag, limit: limit(10_000) },
    reply: v.object({ events: v.array(event) }),
    refusals: [404],
  },
} as const satisfies Routes
