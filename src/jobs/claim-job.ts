import type { JobRecord } from '../contract/records/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { isAlive, ownIdentity } from '../lib/process-info.js'
import { type JobDependencies, recordJob } from './dependencies.js'
import { whySessionTaken } from './first-session.js'
import { NO_FAILURES, whyNotResumed } from './job.js'
import { mayStart } from './job-start-order.js'

const LOOK_MS = 300

/** Claims a job for this process. Resolves when the job may start, or the user stops it. */
export async function claimJob(deps: JobDependencies, jobId: string): Promise<void> {
  takeJob(deps, jobId)
  for (let told = false; !tryBegin(deps, jobId); ) {
    if (deps.store.job(jobId)!.wanted !== null) return
    if (!told) {
      const { jobs, perAgent } = deps.limits
      const bound = perAgent === null ? `${jobs}` : `${jobs}, of one agent ${perAgent}`
      const detail = `the limit of running jobs is reached (${bound}); the job waits for its turn`
      recordJob(deps, jobId, { detail }, [{ type: 'job_waiting', data: { until: null, reason: detail } }])
    }
    told = true
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Takes a job over to run it. Throws when it cannot continue or another process runs it. */
function takeJob(deps: JobDependencies, jobId: string): void {
  const { store } = deps
  store.transaction(() => {
    const why = findRunObstacle(deps, jobId)
    if (why !== null) throw why
    const job = store.job(jobId)!
    const fresh = {
      exitReason: null,
      endedAt: null,
      detail: '',
      wanted: null,
      wantedBy: null,
      retry: null,
      ...NO_FAILURES,
    }
    const checkRound = job.state === 'failed' ? 0 : job.checkRound
    const again = job.exitReason === 'refused' ? { edits: { made: 0, denied: 0, before: job.edits?.denied ?? 0 } } : {}
    store.putJob({
      ...job,
      ...fresh,
      ...again,
      checkRound,
      state: 'pending',
      stateAt: deps.now().toISOString(),
      runner: ownIdentity(),
    })
  })
}

/** Takes a job over to end it. Its stored state stays until then. Throws as `takeJob` does. */
export function takeOverToEnd(deps: JobDependencies, jobId: string): void {
  deps.store.transaction(() => deps.store.putJob({ ...requireFreeJob(deps, jobId), runner: ownIdentity() }))
}

/** Returns why a job cannot be continued, as an error. Null when it can. */
export function findRunObstacle({ store }: Pick<JobDependencies, 'store'>, jobId: string): BatonError | null {
  const job = store.job(jobId)
  if (job === null)
    return new BatonError(`There is no job ${jobId}.`, 'Run baton jobs list to see all jobs.', EXIT.notFound)
  const another = alreadyRunningError(job)
  if (another !== null) return another
  const why =
    job.wanted === 'cancel' ? 'the user is cancelling it' : (whyNotResumed(job) ?? whySessionTaken(store, job))
  return why === null
    ? null
    : new BatonError(`Job ${jobId} cannot be resumed: ${why}.`, 'Run baton run to start another job.', EXIT.refused)
}

function requireFreeJob({ store }: JobDependencies, jobId: string): JobRecord {
  const job = store.job(jobId)
  if (job === null)
    throw new BatonError(`There is no job ${jobId}.`, 'Run baton jobs list to see all jobs.', EXIT.notFound)
  const another = alreadyRunningError(job)
  if (another !== null) throw another
  return job
}

function alreadyRunningError({ jobId, runner }: JobRecord): BatonError | null {
  if (!runner || !isAlive(runner) || runner.pid === process.pid) return null
  return new BatonError(
    `Job ${jobId} already runs in process ${runner.pid}.`,
    `Run baton jobs logs ${jobId} --follow to watch it.`,
    EXIT.refused,
  )
}

/**
 * Takes over an ended job whose end hooks must still run.
 * Returns false when there are no such hooks or another process runs them.
 */
export function takeEndedJob({ store }: JobDependencies, jobId: string): boolean {
  return store.transaction(() => {
    const job = store.job(jobId)
    if (!job?.hooksDue || (job.runner && isAlive(job.runner) && job.runner.pid !== process.pid)) return false
    store.putJob({ ...job, runner: ownIdentity() })
    return true
  })
}

/** Marks the job as running. Returns false when other jobs come first. */
function tryBegin(deps: JobDependencies, jobId: string): boolean {
  const { store, limits } = deps
  const begun = store.transaction((): JobRecord | null => {
    const job = store.job(jobId)!
    if (job.wanted !== null || !mayStart(store.openJobs(), jobId, limits, isAlive)) return null
    const at = deps.now().toISOString()
    store.putJob({ ...job, state: 'running', stateAt: at, startedAt: job.startedAt ?? at, detail: '' })
    return job
  })
  if (begun === null) return false
  recordJob(deps, jobId, {}, [{ type: begun.startedAt === null ? 'job_started' : 'job_resumed', data: {} }])
  return true
}
