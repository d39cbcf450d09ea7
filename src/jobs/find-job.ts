import type { JobRecord } from '../contract/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { Store } from '../store/store.js'
import { type JobView, viewJob } from './view-job.js'

const LATELY_MS = 7 * 24 * 3_600_000

/** Newest first: those that are open, and those of the last week. */
export function recentJobs(store: Pick<Store, 'jobs' | 'attempts'>, everyone: boolean, now: Date): JobView[] {
  const all = store.jobs().toReversed()
  const shown = everyone ? all : all.filter((job) => isRecent(job, now))
  return shown.map((job) => viewJob(job, store.attempts(job.jobId)))
}

/** Open, or of the last week. */
export function isRecent({ endedAt }: JobRecord, now: Date): boolean {
  return endedAt === null || endedAt >= new Date(now.getTime() - LATELY_MS).toISOString()
}

/** The job that a name means: its id or the beginning of it, with or without `job_`, or its seat. Throws when there is none, or several. */
export function jobNamed(store: Pick<Store, 'job' | 'jobs'>, id: string): JobRecord {
  const alike = findJobs(store, id)
  if (alike.length === 1) return alike[0]!
  if (alike.length > 1)
    throw new BatonError(
      `${alike.length} jobs begin with "${id}".`,
      `Give more of the id: ${alike
        .slice(0, 4)
        .map(({ jobId }) => jobId)
        .join(', ')}.`,
      EXIT.usage,
    )
  throw new BatonError(`There is no job "${id}".`, 'baton jobs list shows them.', EXIT.notFound)
}

function findJobs(store: Pick<Store, 'job' | 'jobs'>, id: string): JobRecord[] {
  const exact = store.job(id) ?? store.job(`job_${id}`)
  if (exact) return [exact]
  const short = id.replace(/^job_/, '')
  return store.jobs().filter(({ jobId, seatId }) => (short.length >= 4 && jobId.startsWith(`job_${short}`)) || seatId === id)
}
