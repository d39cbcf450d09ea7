import type { JobView } from '../contract/api/jobs.js'
import type { JobRecord } from '../contract/records/job.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { isAlive } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { isJobOver } from './job.js'
import { attemptsToShow, viewJob } from './view-job.js'

const RECENT_MS = 7 * 24 * 3_600_000

/** Returns open jobs and those of the last week, newest first. */
export function listRecentJobs(
  store: Pick<Store, 'jobs' | 'attempts' | 'session'>,
  everyone: boolean,
  now: Date,
): JobView[] {
  const all = store.jobs().toReversed()
  const shown = everyone ? all : all.filter((job) => isRecentJob(job, now))
  return shown.map((job) => viewJob(job, attemptsToShow(store, job.jobId)))
}

/** True for an open job and for one that ended within the last week. */
export function isRecentJob({ endedAt }: JobRecord, now: Date): boolean {
  return endedAt === null || endedAt >= new Date(now.getTime() - RECENT_MS).toISOString()
}

/**
 * Finds a job by id, id prefix (with or without `job_`) or seat.
 * Throws when no job matches, or several do.
 */
export function findJob(store: Pick<Store, 'job' | 'jobs'>, id: string): JobRecord {
  const alike = findJobs(store, id)
  if (alike.length === 1) return alike[0]!
  if (alike.length > 1)
    throw ambiguousId(
      'jobs',
      id,
      alike.map(({ jobId }) => jobId),
    )
  const isTooShort = isPrefixTooShort(id) && store.jobs().length > 0
  throw new BatonError(
    `There is no job "${id}".`,
    `${isTooShort ? 'Give at least four characters of the id. ' : ''}Run baton jobs list to see all jobs.`,
    EXIT.notFound,
  )
}

const shortId = (id: string): string => id.replace(/^job_/, '')
const isPrefixTooShort = (id: string): boolean => shortId(id).length < 4

function findJobs(store: Pick<Store, 'job' | 'jobs'>, id: string): JobRecord[] {
  const exact = store.job(id) ?? store.job(`job_${id}`)
  if (exact) return [exact]
  const prefix = isPrefixTooShort(id) ? null : `job_${shortId(id)}`
  return store.jobs().filter(({ jobId, seatId }) => (prefix !== null && jobId.startsWith(prefix)) || seatId === id)
}

interface LostJobs {
  /** Jobs to resume. */
  interrupted: JobRecord[]
  /** Ended jobs whose end hooks have not run. */
  endHooksDue: JobRecord[]
  /** Jobs whose runner died before it paused or cancelled them as the user wanted. Not resumed. */
  stopRequested: JobRecord[]
}

/**
 * Returns jobs whose runner died, oldest first.
 * A job that the user paused is not among them. It waits until the user resumes it by name.
 */
export function findLostJobs(store: Pick<Store, 'openJobs'>, isThere: typeof isAlive = isAlive): LostJobs {
  const left = store.openJobs().filter(({ runner }) => runner === null || !isThere(runner))
  const open = left.filter(({ state }) => !isJobOver(state))
  const isWanted = ({ wanted }: JobRecord): boolean => wanted === null || wanted === 'leave'
  return {
    interrupted: open.filter((job) => isWanted(job) && (job.state !== 'paused' || job.wanted === 'leave')),
    stopRequested: open.filter((job) => !isWanted(job) && job.state !== 'paused'),
    endHooksDue: left.filter(({ state, hooksDue }) => isJobOver(state) && hooksDue),
  }
}
