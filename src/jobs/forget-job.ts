import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { JobRecord } from '../contract/records/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { isAlive } from '../lib/process-info.js'
import { removeFolder } from '../lib/remove-folder.js'
import type { Store } from '../store/store.js'
import type { JobDependencies } from './dependencies.js'
import { isJobOver } from './job.js'

export interface ForgottenJob {
  jobId: string
  /** Size of the job's files, in bytes. */
  bytes: number
  /** Worktree that contains work and therefore stays. Null when there is none. */
  worktree: { path: string; branch: string } | null
}

type ForgetDependencies = {
  store: Pick<Store, 'job' | 'removeJob' | 'transaction'>
  folderOf: JobDependencies['folderOf']
}

/** Returns why a job is still needed. Null when it has ended and its end hooks have run. */
function whyNotForgotten({ state, runner, hooksDue }: JobRecord): string | null {
  if (!isJobOver(state)) return `it is ${state}`
  return hooksDue || (runner !== null && isAlive(runner)) ? 'its end hooks have not finished' : null
}

/**
 * Deletes what Baton stores about a job, and the text in its events.
 * Stored are the record, the attempts, the log, the journal, the prompts and check outputs.
 * Sessions, their briefs and archives stay, and so does an existing worktree.
 */
export function forgetJob({ store, folderOf }: ForgetDependencies, jobId: string, dry = false): ForgottenJob {
  return store.transaction(() => {
    const job = store.job(jobId)
    if (job === null)
      throw new BatonError(`There is no job ${jobId}.`, 'Run baton jobs list --all to see all jobs.', EXIT.notFound)
    const why = whyNotForgotten(job)
    const hint = isJobOver(job.state)
      ? 'Wait for them. If their process died, run baton jobs resume.'
      : `Only ended jobs can be forgotten. Run baton jobs cancel ${jobId} first.`
    if (why !== null) throw new BatonError(`Job ${jobId} cannot be forgotten: ${why}.`, hint, EXIT.refused)
    const folder = folderOf(jobId)
    const forgotten = { jobId, bytes: bytesIn(folder), worktree: worktreeOf(job) }
    if (dry) return forgotten
    // Delete files before the record. After a kill in between, the job can be forgotten again.
    removeFolder(folder)
    store.removeJob(jobId)
    return forgotten
  })
}

/** Returns jobs that ended before `at` and can be forgotten, oldest first. */
export function forgettableJobs(jobs: readonly JobRecord[], at: string): JobRecord[] {
  return jobs.filter((job) => job.endedAt !== null && job.endedAt < at && whyNotForgotten(job) === null)
}

function worktreeOf({ workspace }: JobRecord): ForgottenJob['worktree'] {
  const worktree = workspace?.worktree
  return worktree && existsSync(worktree.path) ? { path: worktree.path, branch: worktree.branch } : null
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce(
    (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
