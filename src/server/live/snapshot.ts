import type { Snapshot } from '../../contract/api/live.js'
import type { RowText } from './rows.js'

export interface SnapshotParts {
  last: number
  at: Date
  sessions: readonly RowText[]
  jobs: readonly RowText[]
  briefs: readonly RowText[]
  spend: Snapshot['spend_today']
  version: string
}

/** Rows are kept as JSON already: with hundreds of sessions and clients that all come back at once, none is written twice. */
export function snapshotFrame(parts: SnapshotParts, words: boolean): string {
  const rest: Omit<Snapshot, 'sessions' | 'jobs' | 'briefs'> = {
    ...{ last_event_id: parts.last, at: parts.at.toISOString(), words, spend_today: parts.spend, version: parts.version },
  }
  const list = (rows: readonly RowText[]): string =>
    `[${rows.flatMap((row) => (words ? row.words : (row.figures ?? []))).join(',')}]`
  const json = JSON.stringify(rest).slice(0, -1)
  const { sessions, jobs, briefs } = parts
  return `event: snapshot\ndata: ${json},"sessions":${list(sessions)},"jobs":${list(jobs)},"briefs":${list(briefs)}}\n\n`
}
