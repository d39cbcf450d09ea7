import type { JobRecord } from '../../contract/job.js'
import type { House } from '../../house.js'
import { type JobView, viewJob } from '../../jobs/view-job.js'
import { jobFolder } from '../../jobs-of.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { jobPage } from '../render/job-page.js'
import { jobNamed } from './job-named.js'

/** A job and where its files lie. */
export function jobDetail(house: Pick<House, 'store' | 'home'>, job: JobRecord): JobView & { files: string } {
  return { ...viewJob(job, house.store.attempts(job.jobId)), files: jobFolder(house, job.jobId) }
}

export async function show(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const view = jobDetail(house, jobNamed(house, call.words[1]!))
    cli.print(call.json ? JSON.stringify(view) : jobPage(view, cli.screen, house.now()).join('\n'))
    return EXIT.done
  })
}
