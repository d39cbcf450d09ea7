import type { House } from '../../house.js'
import { type JobView, viewJob } from '../../jobs/view-job.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { jobTable } from '../render/job-page.js'

const LATELY_MS = 7 * 24 * 3_600_000

/** Newest first: those that are open, and those of the last week. */
export function recentJobs({ store, now }: Pick<House, 'store' | 'now'>, everyone: boolean): JobView[] {
  const since = new Date(now().getTime() - LATELY_MS).toISOString()
  const all = store.jobs().toReversed()
  const shown = everyone ? all : all.filter(({ endedAt }) => endedAt === null || endedAt >= since)
  return shown.map((job) => viewJob(job, store.attempts(job.jobId)))
}

export async function list(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const views = recentJobs(house, call.flag('all'))
    if (call.json) cli.print(JSON.stringify({ jobs: views }))
    else if (views.length > 0) cli.print(jobTable(views, cli.screen, house.now()).join('\n'))
    else
      cli.print(
        house.store.jobs().length === 0
          ? 'There are no jobs yet. baton run --prompt TEXT begins one.'
          : 'None lately; --all shows the others.',
      )
    return EXIT.done
  })
}
