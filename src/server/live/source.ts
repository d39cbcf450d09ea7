import type { Snapshot } from '../../contract/api/live.js'
import type { Event } from '../../contract/event.js'
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
  withoutWords(event: Event): Event
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
