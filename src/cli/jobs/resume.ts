import type { JobBudgets, JobRecord } from '../../contract/job.js'
import type { House } from '../../house.js'
import { whyNotTaken } from '../../jobs/claim.js'
import { jobNamed } from '../../jobs/find-job.js'
import { lostJobs } from '../../jobs/lost-jobs.js'
import type { JobParts } from '../../jobs/parts.js'
import { sayEnd } from '../../jobs/run-job.js'
import { settleUnwanted } from '../../jobs/stop-job.js'
import { EXIT, reasonOf } from '../../lib/errors.js'
import { isAlive } from '../../lib/process-info.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse } from '../open-house.js'
import { tellDetached } from './detach.js'
import { budgetsOf, figureOf } from './run.js'
import { IN_RUNNER, partsHere, runHere } from './run-here.js'

/** One job, or all that lost whoever ran them. One that a person paused is left until it is named. */
export async function resume(call: Call, cli: Cli, command: Command): Promise<number> {
  const budgets = budgetsOf(call, command)
  const maxHandoffs = figureOf(call, command, 'max-handoffs')
  return inHouse(
    cli,
    async (house) => {
      const name = call.words[1]
      if (name === undefined) await settle(house, cli, call)
      const jobs = name === undefined ? lostJobs(house.store).cutOff : [takeable(house, name)]
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

/** Refused here: a process in the background would tell it only to its log. */
function takeable(house: House, name: string): JobRecord {
  const job = jobNamed(house.store, name)
  const why = whyNotTaken(house, job.jobId)
  if (why !== null) throw why
  return job
}

/** Those that a person had wanted to stop end as they were to, and those that had ended say so. */
async function settle(house: House, cli: Cli, call: Call): Promise<void> {
  const { unwanted, unsaid } = lostJobs(house.store)
  const each = async (job: JobRecord, see: (parts: JobParts) => Promise<void>): Promise<void> => {
    // One that cannot be seen to is no reason to leave the others.
    await see(partsHere(house, cli, job.spec.folder)).catch((error: unknown) =>
      house.log('warn', 'a lost job could not be seen to', { job: job.jobId, reason: reasonOf(error) }),
    )
  }
  for (const job of unsaid) await each(job, (parts) => sayEnd(parts, job.jobId))
  for (const job of unwanted)
    await each(job, async (parts) => {
      const { state } = await settleUnwanted(parts, job.jobId)
      if (!call.json) cli.print(`${job.jobId} is ${state}: its runner was gone before it had done that.`)
    })
}

function allow({ store }: House, jobId: string, more: Partial<JobBudgets>, maxHandoffs: number | null): void {
  if (Object.keys(more).length === 0 && maxHandoffs === null) return
  store.transaction(() => {
    const job = store.job(jobId)!
    // It is refused next, and what is refused changes nothing.
    if (job.runner !== null && isAlive(job.runner)) return
    const budgets = { ...job.spec.budgets, ...more }
    store.putJob({ ...job, spec: { ...job.spec, budgets, ...(maxHandoffs === null ? {} : { maxHandoffs }) } })
  })
}
