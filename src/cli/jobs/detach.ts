import type { House } from '../../house.js'
import { viewJob } from '../../jobs/view-job.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { startRunner } from './start-job.js'

/** Each job gets a process of its own, which outlives this one and its terminal. */
export function tellDetached(house: House, cli: Cli, call: Call, jobIds: readonly string[]): number {
  for (const jobId of jobIds) {
    const { pid, log } = startRunner(house, cli, jobId)
    const job = house.store.job(jobId)!
    if (call.json) cli.print(JSON.stringify({ ...viewJob(job, house.store.attempts(jobId)), pid, log }))
    else cli.print(`${jobId} runs in the background (process ${pid}). baton jobs logs ${jobId} --follow shows it.`)
  }
  return EXIT.done
}
