import type { Snapshot } from '../../contract/api/live.js'
import type { Event } from '../../contract/records/event.js'
import { isListed } from '../../engine/views/session-queries.js'
import type { ServerDependencies } from '../dependencies.js'
import type { RowText } from './rows.js'

export type Named = readonly [id: string, text: RowText]

/** What the hub tells, asked of the store: other processes write there too, and nobody else knows of that. */
export interface LiveSource {
  /** The id of the newest event; 0: there is none. */
  newest(): number
  /** After an id, oldest first; of each session's readings only the newest. */
  events(afterId: number, limit: number): Event[]
  /** The same without readings, however far back. */
  eventsButReadings(afterId: number, limit: number): Event[]
  /** Those a list of sessions shows. */
  sessions(): Named[]
  /** null: it is no longer shown. */
  session(id: string): RowText | null
  /** Ids of those heard of at or after this time. */
  heardOf(since: Date): string[]
  jobs(): Named[]
  job(id: string): RowText | null
  /** Briefs that wait for a review. */
  briefs(): Named[]
  brief(id: string): RowText | null
  spendToday(): Snapshot['spend_today']
  /** Something failed that may succeed the next time. */
  complain(error: unknown): void
  version: string
  now(): Date
}

/** What the hub tells, from the store and the use cases. */
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
      return row && isListed(record, row, now()) ? JSON.stringify(row) : null
    },
    heardOf: (since) => store.seenSince(since.toISOString()),
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
    complain: (error) => deps.log('error', 'the stream failed for a moment', { reason: String(error) }),
    version: deps.version,
    now,
  }
}
