import { isListed } from '../../engine/queries.js'
import type { ServerParts } from '../parts.js'
import { jobWithoutWords, sessionWithoutWords, withoutWords } from '../withhold.js'
import type { RowText } from './rows.js'
import type { LiveSource } from './source.js'

/** What the hub tells, from the store and the rooms. */
export function liveSource(parts: ServerParts): LiveSource {
  const { store, rooms, now } = parts
  const sessionText = (row: object): RowText => textOf(row, sessionWithoutWords(row))
  const jobText = (row: object): RowText => textOf(row, jobWithoutWords(row))
  const briefText = (id: string): RowText | null => {
    const record = store.brief(id)
    const row = record && rooms.briefs({ seat: record.seatId }).find(({ brief_id }) => brief_id === id)
    return row ? { words: JSON.stringify(row), figures: null } : null
  }

  return {
    newest: () => store.events({ limit: 1 })[0]?.id ?? 0,
    events: (afterId, limit) => store.events({ afterId, limit, readings: 'newest' }),
    eventsButReadings: (afterId, limit) => store.events({ afterId, limit, readings: 'none' }),
    withoutWords,
    sessions: () => parts.recent({}).map((row) => [row.session_id, sessionText(row)]),
    session(id) {
      const record = store.session(id)
      const row = record && parts.row(record)
      return row && isListed(record, row, now()) ? sessionText(row) : null
    },
    heardOf: (since) => store.seenSince(since.toISOString()),
    jobs: () => rooms.jobs(false).map((row) => [row.job_id, jobText(row)]),
    job(id) {
      const row = rooms.listedJob(id)
      return row && jobText(row)
    },
    briefs: () =>
      store.openHandoffs().flatMap(({ state, briefId }) => {
        const text = state === 'review' && briefId !== null ? briefText(briefId) : null
        return text === null ? [] : [[briefId!, text]]
      }),
    brief: briefText,
    spendToday: rooms.spendToday,
    complain: (error) => parts.log('error', 'the stream failed for a moment', { reason: String(error) }),
    version: parts.version,
    now,
  }
}

const textOf = (row: object, figures: object): RowText => ({ words: JSON.stringify(row), figures: JSON.stringify(figures) })
