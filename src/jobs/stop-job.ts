import type { JobRecord } from '../contract/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { isAlive } from '../lib/process-info.js'
import { isOver, type Next, nextAfter } from './job.js'
import type { JobParts } from './parts.js'
import { endProcesses } from './processes.js'
import { endJob } from './run-job.js'

/** How long whoever runs it is waited for before its clients are ended over its head, and before it is left alone. */
const PATIENCE_MS = 2_500
const LONGEST_MS = 4_800
const LOOK_MS = 50

const MORE = ['leave', 'pause', 'cancel'] as const

/** What is wanted already, if it is more, stays. False: it is over already. */
export function wantStop({ store }: Pick<JobParts, 'store'>, jobId: string, wanted: (typeof MORE)[number]): boolean {
  return store.transaction(() => {
    const job = store.job(jobId)
    if (job === null || isOver(job.state)) return false
    store.putJob({ ...job, wanted: MORE.findLast((one) => one === job.wanted || one === wanted)!, wantedBy: null })
    return true
  })
}

/** Ends a job and everything it started, whoever runs it, within five seconds; then its end is seen to. */
export async function cancelJob(parts: JobParts, jobId: string): Promise<JobRecord> {
  const { store } = parts
  if (!wantStop(parts, jobId, 'cancel')) {
    const { state } = store.job(jobId)!
    throw new BatonError(`Job ${jobId} is ${state} already.`, 'baton jobs show tells how it ended.', EXIT.refused)
  }
  const began = Date.now()
  const isRun = (): boolean => {
    const { runner } = store.job(jobId)!
    return runner !== null && isAlive(runner)
  }
  let helped = false
  while (isRun() && !isOver(store.job(jobId)!.state)) {
    const passed = Date.now() - began
    if (passed > PATIENCE_MS && !helped) {
      helped = true
      await endProcesses(jobId, 1_500)
    }
    if (passed > LONGEST_MS)
      throw new BatonError(
        `Job ${jobId} has no processes any more, but process ${store.job(jobId)!.runner?.pid} has not ended it yet.`,
        'baton jobs show tells when it has.',
      )
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const job = store.job(jobId)!
  if (isOver(job.state)) return job
  return endJob(parts, jobId, { do: 'end', state: 'cancelled', reason: 'cancelled', detail: 'a person cancelled it' })
}

/** What a person wanted of a job, where whoever ran it died before it was done. */
export async function settleUnwanted(parts: JobParts, jobId: string): Promise<JobRecord> {
  const job = parts.store.job(jobId)!
  const outcome = { how: 'stopped', wanted: job.wanted ?? 'pause' } as const
  return endJob(parts, jobId, nextAfter(job, outcome, parts.now()) as Extract<Next, { do: 'end' }>)
}
