import type { JobRecord } from '../../contract/records/job.js'
import type { SessionRecord, SessionTitle } from '../../contract/records/session.js'
import type { Observation, Signal } from '../../contract/signal.js'
import { isRequest, shortTitle, workTitle } from '../../lib/short-title.js'

const RANK: Record<SessionTitle['by'], number> = { request: 0, client: 1, named: 2, job: 3 }

/** Returns the session's title after a signal. `SessionTitle` says which source wins. */
export function titleAfter(record: SessionRecord, signal: Signal, observation: Observation): SessionTitle | null {
  const known = record.title ?? null
  if (signal.subagent) return known
  const told = [
    observation.title ?? null,
    signal.title ? { text: signal.title, by: 'named' as const } : null,
    known === null && signal.prompt && isRequest(signal.prompt)
      ? { text: signal.prompt, by: 'request' as const }
      : null,
  ]
  return told.reduce<SessionTitle | null>((title, next) => (next === null ? title : strongerTitle(title, next)), known)
}

function strongerTitle(title: SessionTitle | null, { text, by }: SessionTitle): SessionTitle | null {
  if (title !== null && RANK[by] < RANK[title.by]) return title
  const short = shortTitle(text)
  return short === null ? title : { text: short, by }
}

/** The title of the sessions of a job. */
export function jobTitle({ spec }: Pick<JobRecord, 'spec'>): SessionTitle | null {
  const text = workTitle(spec)
  return text === null ? null : { text, by: 'job' }
}
