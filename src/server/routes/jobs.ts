import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'

/** Jobs as `jobs list` and `jobs show` have them. */
export function jobs({ rooms }: ServerParts): Handlers<'jobs' | 'job'> {
  return {
    jobs: ({ query }) => ({ jobs: rooms.jobs(query.all !== undefined) }),
    job: ({ id }) => rooms.job(id),
  }
}
