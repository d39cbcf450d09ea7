import { resumeJob, startJob } from '../app/jobs.js'
import { type OwnProgram, ownCommand } from '../app/own-program.js'
import type { App } from '../engine/open-engine.js'
import { readLogLine } from './render/job-log-lines.js'

/**
 * Returns the use cases that start this program again.
 * `baton` is its file; `ending` is aborted when the server ends.
 */
export function ownProgramOf(
  app: App,
  env: Record<string, string | undefined>,
  baton: string,
  ending: AbortSignal,
): OwnProgram {
  const starter = { env, baton }
  return {
    env,
    command: ownCommand({ program: baton, env, cwd: app.home.root, ending }),
    startJob: (order) => startJob(app, starter, order),
    resumeJob: (jobId) => resumeJob(app, starter, jobId),
    readLogLine,
  }
}
