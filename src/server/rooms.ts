import type { JobDetail, JobShown } from '../contract/api/jobs.js'

/**
 * What routes need of rooms that the server may not enter: `page-of.ts` joins them. Whatever is named by an id is found by its beginning too;
 * what is not there, or cannot be done, is a `BatonError`.
 */
export interface Rooms {
  /** Jobs that are open and those of the last week, newest first, as `jobs list` has them. */
  jobs(all: boolean): JobShown[]
  job(id: string): JobDetail
}
