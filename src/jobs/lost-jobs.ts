import type { JobRecord } from '../contract/job.js'
import { isAlive } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { isOver } from './job.js'

export interface LostJobs {
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
