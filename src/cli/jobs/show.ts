import { jobNamed } from '../../jobs/find-job.js'
import { viewJobDetail } from '../../jobs/view-job.js'
import { jobFolder } from '../../jobs-of.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { jobPage } from '../render/job-page.js'

export async function show(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const job = jobNamed(house.store, call.words[1]!)
    const view = viewJobDetail(job, house.store.attempts(job.jobId), jobFolder(house, job.jobId))
    cli.print(call.json ? JSON.stringify(view) : jobPage(view, cli.screen, house.now()).join('\n'))
    return EXIT.done
  })
}
