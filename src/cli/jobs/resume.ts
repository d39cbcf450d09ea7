import type { JobBudgets, JobRecord } from '../../contract/job.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import { isAlive } from '../../lib/process-info.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse } from '../open-house.js'
import { tellDetached } from './detach.js'
import { jobNamed } from './job-named.js'
import { budgetsOf, figureOf } from './run.js'
import { IN_RUNNER, runHere } from './run-here.js'

/** One job, or all that lost whoever ran them. One that a person paused is left until it is named. */
export async function resume(call: Call, cli: Cli, command: Command): Promise<number> {
  const budgets = budgetsOf(call, command)
  const maxHandoffs = figureOf(call, command, 'max-handoffs')
  return inHouse(
    cli,
    async (house) => {
      const name = call.words[1]
      const jobs = name === undefined ? house.store.openJobs().filter(isLost) : [jobNamed(house, name)]
      for (const { jobId } of jobs) allow(house, jobId, budgets, maxHandoffs)
      const jobIds = jobs.map(({ jobId }) => jobId)
      if (jobIds.length > 0)
        return call.flag('detach') ? tellDetached(house, cli, call, jobIds) : runHere(house, cli, call, jobIds)
      if (!call.json)
        cli.print('No job has lost its runner. baton jobs list shows those that are paused; name one to go on with it.')
      return EXIT.done
    },
    IN_RUNNER,
  )
}

const isLost = ({ state, runner }: JobRecord): boolean => state !== 'paused' && (runner === null || !isAlive(runner))

function allow({ store }: House, jobId: string, more: Partial<JobBudgets>, maxHandoffs: number | null): void {
  if (Object.keys(more).length === 0 && maxHandoffs === null) return
  store.transaction(() => {
    const job = store.job(jobId)!
    const budgets = { ...job.spec.budgets, ...more }
    store.putJob({ ...job, spec: { ...job.spec, budgets, ...(maxHandoffs === null ? {} : { maxHandoffs }) } })
  })
}
