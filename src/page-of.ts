import type { House } from './house.js'
import { jobNamed, recentJobs } from './jobs/find-job.js'
import { viewJobDetail } from './jobs/view-job.js'
import { jobFolder } from './jobs-of.js'
import type { Rooms } from './server/rooms.js'

/** Gives the server what it shows of rooms it may not enter. */
export function pageOf(house: House): Rooms {
  const { store } = house
  return {
    jobs: (all) => recentJobs(store, all, house.now()),
    job(id) {
      const job = jobNamed(store, id)
      return viewJobDetail(job, store.attempts(job.jobId), jobFolder(house, job.jobId))
    },
  }
}
