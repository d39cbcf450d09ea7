import { jobNamed } from '../../jobs/find-job.js'
import { cancelJob } from '../../jobs/stop-job.js'
import { viewJob } from '../../jobs/view-job.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { IN_RUNNER, partsHere } from './run-here.js'

export async function cancel(call: Call, cli: Cli): Promise<number> {
  return inHouse(
    cli,
    async (house) => {
      const { jobId, spec } = jobNamed(house.store, call.words[1]!)
      const job = await cancelJob(partsHere(house, cli, spec.folder), jobId)
      if (call.json) cli.print(JSON.stringify(viewJob(job, house.store.attempts(jobId))))
      else cli.print(`${jobId} is ${job.state}${job.detail === '' ? '' : `: ${job.detail}`}.`)
      return EXIT.done
    },
    IN_RUNNER,
  )
}
