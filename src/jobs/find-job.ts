import type { JobShown } from '../contract/api/jobs.js'
import type { JobRecord } from '../contract/records/job.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { isAlive } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { isOver } from './job.js'
import { viewJob } from './view-job.js'

const LATELY_MS = 7 * 24 * 3_600_000

/** Newest first: those that are open, and those of the last week. */
export function recentJobs(store: Pick<Store, 'jobs' | 'attempts'>, everyone: boolean, now: Date): JobShown[] {
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
    throw ambiguousId(
      'jobs',
      id,
      alike.map(({ jobId }) => jobId),
    )
  throw new BatonError(`There is no job "${id}".`, 'baton jobs list shows them.', EXIT.notFound)
}

function findJobs(store: Pick<Store, 'job' | 'jobs'>, id: string): JobRecord[] {
  const exact = store.job(id) ?? store.job(`job_${id}`)
  if (exact) return [exact]
  const short = id.replace(/^job_/, '')
  return store
    .jobs()
    .filter(({ jobId, seatId }) => (short.length >= 4 && jobId.startsWith(`job_${short}`)) || seatId === id)
}

interface LostJobs {
  /** They go on. */
  cutOff: JobRecord[]
  /** They have ended, but not the hooks of their end. */
  unsaid: JobRecord[]
  /** A person wanted them paused or cancelled, and whoever ran them died before it was done: they do not. */
  unwanted: JobRecord[]
}

/** The jobs whose runner is gone, oldest first. One that a person paused is not lost: it waits until somebody names it. */
export function lostJobs(store: Pick<Store, 'openJobs'>, isThere: typeof isAlive = isAlive): LostJobs {
  const left = store.openJobs().filter(({ runner }) => runner === null || !isThere(runner))
  const open = left.filter(({ state }) => !isOver(state))
  const isWanted = ({ wanted }: JobRecord): boolean => wanted === null || wanted === 'leave'
  return {
    cutOff: open.filter((job) => isWanted(job) && (job.state !== 'paused' || job.wanted === 'leave')),
    unwanted: open.filter((job) => !isWanted(job) && job.state !== 'paused'),
    unsaid: left.filter(({ state, hooksDue }) => isOver(state) && hooksDue),
  }
}
