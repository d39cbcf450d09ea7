import type { JobRecord } from '../contract/records/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { isAlive } from '../lib/process-info.js'
import type { JobDependencies } from './dependencies.js'
import { isJobOver, type JobAction, nextJobAction } from './job.js'
import { endProcesses } from './processes.js'
import { endJob } from './run-job.js'

/** Time to wait for the job's runner. After it, this process ends the runner's clients. */
const PATIENCE_MS = 2_500
const LONGEST_MS = 4_800
const LOOK_MS = 50

const BY_STRENGTH = ['leave', 'pause', 'cancel'] as const

/**
 * Requests a stop. A stronger earlier request stays. Returns false when the job is over already.
 */
export function requestStop(
  { store }: Pick<JobDependencies, 'store'>,
  jobId: string,
  wanted: (typeof BY_STRENGTH)[number],
): boolean {
  return store.transaction(() => {
    const job = store.job(jobId)
    if (job === null || isJobOver(job.state)) return false
    store.putJob({
      ...job,
      wanted: BY_STRENGTH.findLast((one) => one === job.wanted || one === wanted)!,
      wantedBy: null,
    })
    return true
  })
}

/** Cancels a job and everything it started within five seconds, whichever process runs it. */
export async function cancelJob(deps: JobDependencies, jobId: string): Promise<JobRecord> {
  const { store } = deps
  if (!requestStop(deps, jobId, 'cancel')) {
    const { state } = store.job(jobId)!
    throw new BatonError(
      `Job ${jobId} is already ${state}.`,
      `Run baton jobs show ${jobId} to see how it ended.`,
      EXIT.refused,
    )
  }
  const began = Date.now()
  const isRun = (): boolean => {
    const { runner } = store.job(jobId)!
    return runner !== null && isAlive(runner)
  }
  let hasEndedProcesses = false
  while (isRun() && !isJobOver(store.job(jobId)!.state)) {
    const passed = Date.now() - began
    if (passed > PATIENCE_MS && !hasEndedProcesses) {
      hasEndedProcesses = true
      await endProcesses(jobId, 1_500)
    }
    if (passed > LONGEST_MS)
      throw new BatonError(
        `Job ${jobId} is not cancelled yet: process ${store.job(jobId)!.runner?.pid} still finishes it.`,
        `Run baton jobs show ${jobId} to see when it has ended.`,
      )
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const job = store.job(jobId)!
  if (isJobOver(job.state)) return job
  return endJob(deps, jobId, { do: 'end', state: 'cancelled', reason: 'cancelled', detail: 'the user cancelled it' })
}

/** Time for the current batch, which may take 8 s, and for the client's exit. */
const PAUSE_MS = 15_000

/**
 * Pauses a job: the current batch returns, then its client exits.
 * Returns the job when it is paused or has ended before.
 * Throws when the job is over or paused already, or does not pause in time.
 */
export async function pauseJob(deps: JobDependencies, jobId: string): Promise<JobRecord> {
  const { store } = deps
  const { state } = store.job(jobId)!
  if (state === 'paused' || !requestStop(deps, jobId, 'pause'))
    throw new BatonError(
      `Job ${jobId} is already ${state}.`,
      state === 'paused'
        ? `Run baton jobs resume ${jobId} to continue it.`
        : `Run baton jobs show ${jobId} to see how it ended.`,
      EXIT.refused,
    )
  const began = Date.now()
  for (;;) {
    const job = store.job(jobId)!
    if (isJobOver(job.state) || job.state === 'paused') return job
    if (job.runner === null || !isAlive(job.runner)) return carryOutStop(deps, jobId)
    if (Date.now() - began > PAUSE_MS)
      throw new BatonError(
        `Job ${jobId} is not paused yet: process ${job.runner.pid} still finishes its work.`,
        `Run baton jobs show ${jobId} to see when it has paused, or baton jobs cancel ${jobId} to end it at once.`,
      )
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Carries out the user's pause or cancellation of a job whose runner died before. */
export async function carryOutStop(deps: JobDependencies, jobId: string): Promise<JobRecord> {
  const job = deps.store.job(jobId)!
  const outcome = { how: 'stopped', wanted: job.wanted ?? 'pause' } as const
  return endJob(deps, jobId, nextJobAction(job, outcome, deps.now()) as Extract<JobAction, { do: 'end' }>)
}
