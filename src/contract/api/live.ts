import * as v from 'valibot'
import { briefRow } from './briefs.js'
import { event } from './event-data.js'
import { job } from './jobs.js'
import { flag, limit, optionalText, type Routes } from './route.js'
import { sessionRow } from './sessions.js'
import { count, nullable, text, time } from './shapes.js'

export { event }

/**
 * `GET /api/live` sends server-sent events. After every connect, with or without `Last-Event-ID`:
 *
 * 1. `event: snapshot`, data `Snapshot`: the current state. Has no `id:`.
 * 2. Only with `Last-Event-ID`: every event after that id, oldest first.
 * Of token readings, only the newest of each session is sent.
 * `event: gap` is sent instead when there are too many events or the store is another one.
 * The `id:` of a gap is the newest event's id. The client then asks `/api/events`.
 * 3. From then on, as it happens:
 * - Unnamed messages, data `Event`, `id:` the event's id.
 * A session sends at most five readings a second, the newest. A delayed reading has no `id:`.
 * No other event is left out.
 * - `event: session` (data `SessionRow`), `event: job` (`Job`) or `event: brief` (`BriefRow`):
 * a row changed in a way that no event describes.
 * At most one such message a second is sent per row, the newest. It has no `id:`.
 * - `event: gone`, data `Gone`: a row is no longer listed because it is forgotten or too old.
 * A later row message may bring the row back. The message has no `id:`.
 * - Comments as heartbeat.
 *
 * A client that reads too slowly is disconnected and may reconnect with `Last-Event-ID`.
 */
export const snapshot = v.object({
  /** The newest event that this snapshot includes. */
  last_event_id: v.pipe(v.number(), v.integer()),
  at: time,
  sessions: v.array(sessionRow),
  jobs: v.array(job),
  /** Only briefs that wait for a review. */
  briefs: v.array(briefRow),
  spend_today: v.object({ cost_usd: nullable(v.number()), input_tokens: count, output_tokens: count }),
  version: text,
})
/** Names a row that is no longer listed. */
export const gone = v.object({ kind: v.picklist(['session', 'job', 'brief']), id: text })
export type Gone = v.InferOutput<typeof gone>

export type Snapshot = v.InferOutput<typeof snapshot>

/** The route of past events; `/api/live` sends new ones. */
export const eventRoutes = {
  events: {
    method: 'get',
    path: '/api/events',
    summary: 'Events',
    query: {
      since: v.optional(text),
      session: optionalText,
      job: optionalText,
      without_readings: flag,
      limit: limit(10_000),
    },
    reply: v.object({ events: v.array(event) }),
    refusals: [404],
  },
} as const satisfies Routes
