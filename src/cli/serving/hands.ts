import type { House } from '../../house.js'
import type { Hands } from '../../page/hands.js'
import { resumeJob, startJob } from '../jobs/start-job.js'
import { readLogLine } from '../render/job-log-lines.js'
import { ownCommand } from './own-command.js'

/** What the page can do only through this program. `baton`: its file; `ending`: aborted when it ends. */
export function handsOf(house: House, env: Record<string, string | undefined>, baton: string, ending: AbortSignal): Hands {
  const starter = { env, baton }
  return {
    env,
    command: ownCommand({ program: baton, env, cwd: house.home.root, ending }),
    startJob: (order) => startJob(house, starter, order),
    resumeJob: (jobId) => resumeJob(house, starter, jobId),
    readLogLine,
  }
}
