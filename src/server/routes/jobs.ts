import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'

type JobRoute = 'jobs' | 'job' | 'jobLog' | 'startJob' | 'cancelJob' | 'resumeJob' | 'projects'

/** Jobs as `jobs list` and `jobs show` have them; one that is started runs in a process of its own. */
export function jobs({ rooms }: ServerParts): Handlers<JobRoute> {
  return {
    jobs: ({ query }) => ({ jobs: rooms.jobs(query.all !== undefined) }),
    job: ({ id }) => rooms.job(id),
    jobLog: ({ id, query }) => rooms.jobLog(id, query.after ?? null),
    startJob: ({ body }) => rooms.startJob(body),
    cancelJob: ({ id }) => rooms.cancelJob(id),
    resumeJob: ({ id }) => rooms.resumeJob(id),
    projects: () => rooms.projects(),
  }
}
