import { BatonError, EXIT } from '../../lib/errors.js'
import type { EventQuery } from '../../store/store.js'
import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'
import { namedSession } from './named-session.js'

const USUAL = 1_000

/** What happened, oldest first: after an event or a time, or the newest. */
export function events(parts: ServerParts): Handlers<'events'> {
  return {
    events({ query: { since, session, job, without_readings, limit } }) {
      const of = session === undefined ? {} : { sessionId: namedSession(parts, session).sessionId }
      const ofJob = job === undefined ? {} : { jobId: parts.rooms.job(job).job_id }
      const quiet: EventQuery = without_readings === undefined ? {} : { readings: 'none' }
      return { events: parts.store.events({ ...of, ...ofJob, ...sinceOf(since), ...quiet, limit: limit ?? USUAL }) }
    },
  }
}

function sinceOf(written: string | undefined): EventQuery {
  if (written === undefined) return {}
  if (/^\d{1,15}$/.test(written)) return { afterId: Number(written) }
  const time = Date.parse(written)
  if (!Number.isNaN(time)) return { since: new Date(time).toISOString() }
  throw new BatonError(`since: cannot be "${written}".`, 'since= takes an event id or an ISO time', EXIT.usage)
}
