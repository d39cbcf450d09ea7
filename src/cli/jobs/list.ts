import { recentJobs } from '../../jobs/find-job.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { jobTable } from '../render/job-page.js'

export async function list(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const views = recentJobs(house.store, call.flag('all'), house.now())
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
