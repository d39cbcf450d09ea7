import type { Snapshot } from '../../contract/api/live.js'
import type { Event } from '../../contract/records/event.js'
import { isSessionListed } from '../../engine/views/session-queries.js'
import type { ServerDependencies } from '../dependencies.js'
import type { RowText } from './rows.js'

export type NamedRow = readonly [id: string, text: RowText]

/** Data of the event stream, read from the store, because other processes write there too. */
export interface LiveSource {
  /** Id of the newest event. 0 when there is none. */
  newest(): number
  /** Events after an id, oldest first. Of each session's token readings only the newest. */
  events(afterId: number, limit: number): Event[]
  /** Events after an id, without token readings, oldest first. */
  eventsButReadings(afterId: number, limit: number): Event[]
  /** Rows of all listed sessions. */
  sessions(): NamedRow[]
  /** Row of a session. Null when it is no longer listed. */
  session(id: string): RowText | null
  /** Ids of sessions with a signal at or after this time. */
  seenSince(since: Date): string[]
  jobs(): NamedRow[]
  job(id: string): RowText | null
  /** Briefs that wait for a review. */
  briefs(): NamedRow[]
  brief(id: string): RowText | null
  spendToday(): Snapshot['spend_today']
  /** Logs an error of one tick. The next tick may succeed. */
  logFailure(error: unknown): void
  version: string
  now(): Date
}

/** Builds the source of the stream from the store and the use cases. */
export function liveSource(deps: ServerDependencies): LiveSource {
  const { store, useCases, now } = deps
  const briefText = (id: string): RowText | null => {
    const record = store.brief(id)
    const row = record && useCases.briefs({ seat: record.seatId }).find(({ brief_id }) => brief_id === id)
    return row ? JSON.stringify(row) : null
  }

  return {
    newest: () => store.events({ limit: 1 })[0]?.id ?? 0,
    events: (afterId, limit) => store.events({ afterId, limit, readings: 'newest' }),
    eventsButReadings: (afterId, limit) => store.events({ afterId, limit, readings: 'none' }),
    sessions: () => deps.recent({}).map((row) => [row.session_id, JSON.stringify(row)]),
    session(id) {
      const record = store.session(id)
      const row = record && deps.row(record)
      return row && isSessionListed(record, row, now()) ? JSON.stringify(row) : null
    },
    seenSince: (time) => store.seenSince(time.toISOString()),
    jobs: () => useCases.jobs(false).map((row) => [row.job_id, JSON.stringify(row)]),
    job(id) {
      const row = useCases.listedJob(id)
      return row && JSON.stringify(row)
    },
    briefs: () =>
      store.openHandoffs().flatMap(({ state, briefId }) => {
        const text = state === 'review' && briefId !== null ? briefText(briefId) : null
        return text === null ? [] : [[briefId!, text]]
      }),
    brief: briefText,
    spendToday: useCases.spendToday,
    logFailure: (error) => deps.log('error', 'the live stream could not be read', { reason: String(error) }),
    version: deps.version,
    now,
  }
}
