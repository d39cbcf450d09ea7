import { loadConfig } from '../../config/load-config.js'
import type { Event } from '../../contract/event.js'
import type { JobRecord, RuntimeName } from '../../contract/job.js'
import type { House } from '../../house.js'
import type { JobParts } from '../../jobs/parts.js'
import { runJob } from '../../jobs/run-job.js'
import type { Runtime } from '../../jobs/runtimes/runtime.js'
import { wantStop } from '../../jobs/stop-job.js'
import { viewJob } from '../../jobs/view-job.js'
import { jobsOf } from '../../jobs-of.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { endLines } from '../render/job-page.js'
import { type Display, displayOn } from './display.js'
import { openRuntime } from './open-runtime.js'

/** How the house of a process that runs jobs is opened: it lives long, and others write beside it. */
export const IN_RUNNER = { configMs: 1_000, busyMs: 30_000, keeps: true } as const

/** What jobs need, in this process. */
export function partsHere(
  house: House,
  cli: Pick<Cli, 'env'>,
  folder: string,
  tell: (events: readonly Event[]) => void = () => {},
): JobParts {
  const { limits } = loadConfig({ home: house.home, project: folder, env: cli.env }).config
  const opened = new Map<string, Promise<Runtime>>()
  return jobsOf(house, {
    env: cli.env,
    limits: { jobs: limits.jobs ?? 4, perAgent: limits.jobs_per_agent },
    runtime(name: RuntimeName, at: string) {
      const key = `${name} ${at}`
      const found = opened.get(key) ?? openRuntime(name, at, cli, house.log)
      opened.set(key, found)
      return found
    },
    tell,
  })
}

/** Runs jobs to their end in this process, shows how they come along, and returns the exit code for all of them. */
export async function runHere(house: House, cli: Cli, call: Call, jobIds: readonly string[]): Promise<number> {
  const display = displayOn(cli, call, jobIds.length > 1)
  const tell = (events: readonly Event[]): void => {
    for (const event of events) if (event.job_id !== null && jobIds.includes(event.job_id)) display.take(event)
  }
  const deaf = house.engine.listen(tell)
  const calm = stopOnSignals(house, jobIds, display)
  try {
    // One that cannot go on is no reason to end the others, and none of them may outlive the house.
    const all = await Promise.allSettled(
      jobIds.map(async (jobId) => {
        const parts = partsHere(house, cli, house.store.job(jobId)!.spec.folder, tell)
        return runJob(parts, jobId).catch((error: unknown) => refused(error, jobId, display, jobIds.length))
      }),
    )
    const broken = all.find((one) => one.status === 'rejected')
    if (broken) throw broken.reason
    const ended = all.map((one) => (one as PromiseFulfilledResult<JobRecord | null>).value)
    display.end()
    const jobs = ended.filter((job) => job !== null)
    for (const job of jobs) tellEnd(house, cli, call, job)
    return Math.max(jobs.length < ended.length ? EXIT.refused : 0, ...jobs.map(exitOf))
  } finally {
    display.end()
    calm()
    deaf()
  }
}

/** Of several jobs, one that somebody else took meanwhile is no reason to end the others. */
function refused(error: unknown, jobId: string, display: Display, count: number): null {
  if (count === 1 || !(error instanceof BatonError)) throw error
  display.note(`${jobId}: ${reasonOf(error)}`)
  return null
}

function tellEnd(house: House, cli: Cli, call: Call, job: JobRecord): void {
  const view = viewJob(job, house.store.attempts(job.jobId))
  if (call.json || call.value('output-format') === 'stream-json') cli.print(JSON.stringify(view))
  else cli.print(endLines(view, cli.screen, house.now()).join('\n'))
}

export function exitOf({ state }: Pick<JobRecord, 'state'>): number {
  return state === 'completed' ? EXIT.done : state === 'paused' ? EXIT.resumable : EXIT.failed
}

/**
 * Ctrl-C pauses, a second one cancels. A machine that shuts down or a terminal that closes says nothing about the jobs, however often it
 * does so: they stop after the present step, and go on with whoever takes them up. Returns what takes the listeners away.
 */
function stopOnSignals(house: House, jobIds: readonly string[], display: Display): () => void {
  let interrupts = 0
  const stop = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT') interrupts++
    const wanted = interrupts > 1 ? 'cancel' : signal === 'SIGINT' ? 'pause' : 'leave'
    const open = jobIds.filter((jobId) => wantStop(house, jobId, wanted))
    if (open.length === 0) display.note('The job has ended; the hooks of its end still run …')
    else if (interrupts > 1) display.note('Cancelling …')
    else display.note(`Pausing after the present step …${interrupts > 0 ? ' (once more: cancel)' : ''}`)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  return () => {
    for (const signal of signals) process.off(signal, stop)
  }
}
