import type { JobRecord } from '../contract/job.js'
import { isAlive } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { isOver } from './job.js'

export interface LostJobs {
  /** They go on. */
  cutOff: JobRecord[]
  /** A person wanted them paused or cancelled, and whoever ran them died before it was done: they do not. */
  unwanted: JobRecord[]
}

/** The jobs whose runner is gone, oldest first. One that is paused is not lost: it waits until somebody names it. */
export function lostJobs(store: Pick<Store, 'openJobs'>, isThere: typeof isAlive = isAlive): LostJobs {
  const lost = store
    .openJobs()
    .filter(({ state, runner }) => state !== 'paused' && !isOver(state) && (runner === null || !isThere(runner)))
  return { cutOff: lost.filter(({ wanted }) => wanted === null), unwanted: lost.filter(({ wanted }) => wanted !== null) }
}
