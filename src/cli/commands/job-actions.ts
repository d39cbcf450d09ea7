import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { withOpenApp } from '../../app/open-app.js'
import { jobFolder } from '../../app/open-jobs.js'
import type { JobBudgets, JobRecord } from '../../contract/records/job.js'
import type { App } from '../../engine/open-engine.js'
import { whyNotTaken } from '../../jobs/claim.js'
import type { JobDependencies } from '../../jobs/dependencies.js'
import { jobNamed, lostJobs, recentJobs } from '../../jobs/find-job.js'
import { endedBefore, type ForgottenJob, forgetJob } from '../../jobs/forget-job.js'
import { isOver } from '../../jobs/job.js'
import { LogReader } from '../../jobs/job-log.js'
import { logOf, sayEnd } from '../../jobs/run-job.js'
import { cancelJob, pauseJob, settleUnwanted } from '../../jobs/stop-job.js'
import { viewJob, viewJobDetail } from '../../jobs/view-job.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { isAlive } from '../../lib/process-info.js'
import type { Call, Cli, Command } from '../command.js'
import { parseAge } from '../parse-values.js'
import { logPrinter } from '../render/job-log-lines.js'
import { jobPage, jobTable } from '../render/job-page.js'
import { bytesText } from '../render/text.js'
import { untilStopped } from '../terminal.js'

export async function list(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const views = recentJobs(app.store, call.flag('all'), app.now())
    if (call.json) cli.print(JSON.stringify({ jobs: views }))
    else if (views.length > 0) cli.print(jobTable(views, cli.screen, app.now()).join('\n'))
    else
      cli.print(
        app.store.jobs().length === 0
          ? 'There are no jobs yet. baton run --prompt TEXT begins one.'
          : 'None lately; --all shows the others.',
      )
    return EXIT.done
  })
}

export async function show(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const job = jobNamed(app.store, call.words[1]!)
    const view = viewJobDetail(job, app.store.attempts(job.jobId), jobFolder(app, job.jobId))
    cli.print(call.json ? JSON.stringify(view) : jobPage(view, cli.screen, app.now()).join('\n'))
    return EXIT.done
  })
}

const EVERY_MS = 250

export async function logs(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, async (app) => {
    const { jobId, spec } = jobNamed(app.store, call.words[1]!)
    const path = logOf(jobFolder(app, jobId))
    const raw = call.json || call.flag('raw')
    const shown = logPrinter(spec.agent, cli.screen)
    let isEmpty = true
    const put = (text: string): void => {
      isEmpty = false
      cli.print(text)
    }
    const print = (line: string): void => {
      if (raw) put(line)
      else for (const text of shown(line)) put(text)
    }
    const newest = new LogReader(path)
    if (existsSync(`${path}.1`)) new LogReader(`${path}.1`).read(print)
    newest.read(print)
    if (isEmpty) cli.note(`The log of ${jobId} is empty: nothing was written to it yet.`)
    if (!call.flag('follow')) return EXIT.done
    let stopped = false
    void untilStopped().then(() => {
      stopped = true
    })
    for (;;) {
      // It may have been forgotten meanwhile.
      const job = app.store.job(jobId)
      const rests =
        job === null || isOver(job.state) || job.state === 'paused' || (job.runner !== null && !isAlive(job.runner))
      newest.read(print)
      if (rests || stopped) return EXIT.done
      await sleep(EVERY_MS)
    }
  })
}

/** Loaded when a job is run or stopped: listing jobs needs none of it. */
const runJobs = () => import('./run-jobs.js')

export const cancel = (call: Call, cli: Cli): Promise<number> => stop(call, cli, cancelJob)
export const pause = (call: Call, cli: Cli): Promise<number> => stop(call, cli, pauseJob)

async function stop(call: Call, cli: Cli, stopJob: typeof cancelJob): Promise<number> {
  const { IN_RUNNER, partsHere } = await runJobs()
  return withOpenApp(
    cli,
    async (app) => {
      const { jobId, spec } = jobNamed(app.store, call.words[1]!)
      const job = await stopJob(partsHere(app, cli, spec.folder), jobId)
      if (call.json) cli.print(JSON.stringify(viewJob(job, app.store.attempts(jobId))))
      else cli.print(`${jobId} is ${job.state}${job.detail === '' ? '' : `: ${job.detail}`}.`)
      return EXIT.done
    },
    IN_RUNNER,
  )
}

/** One job, or all that lost whoever ran them. One that a person paused is left until it is named. */
export async function resume(call: Call, cli: Cli, command: Command): Promise<number> {
  const { budgetsOf, figureOf, IN_RUNNER, runHere, tellDetached, warnOfDenials } = await runJobs()
  const budgets = budgetsOf(call, command)
  const maxHandoffs = figureOf(call, command, 'max-handoffs')
  const permissionMode = call.value('permission-mode')
  return withOpenApp(
    cli,
    async (app) => {
      const name = call.words[1]
      if (name === undefined) await settle(app, cli, call)
      const jobs = name === undefined ? lostJobs(app.store).cutOff : [takeable(app, name)]
      for (const { jobId } of jobs) {
        allow(app, jobId, budgets, { maxHandoffs, permissionMode })
        warnOfDenials(app.store.job(jobId)!.spec, cli)
      }
      const jobIds = jobs.map(({ jobId }) => jobId)
      if (jobIds.length > 0)
        return call.flag('detach') ? tellDetached(app, cli, call, jobIds) : runHere(app, cli, call, jobIds)
      if (!call.json)
        cli.print('No job has lost its runner. baton jobs list shows those that are paused; name one to go on with it.')
      return EXIT.done
    },
    IN_RUNNER,
  )
}

/** Refused here: a process in the background would tell it only to its log. */
function takeable(app: App, name: string): JobRecord {
  const job = jobNamed(app.store, name)
  const why = whyNotTaken(app, job.jobId)
  if (why !== null) throw why
  return job
}

/** Those that a person had wanted to stop end as they were to, and those that had ended say so. */
async function settle(app: App, cli: Cli, call: Call): Promise<void> {
  const { partsHere } = await runJobs()
  const { unwanted, unsaid } = lostJobs(app.store)
  const each = async (job: JobRecord, see: (deps: JobDependencies) => Promise<void>): Promise<void> => {
    // One that cannot be seen to is no reason to leave the others.
    await see(partsHere(app, cli, job.spec.folder)).catch((error: unknown) =>
      app.log('warn', 'a lost job could not be seen to', { job: job.jobId, reason: reasonOf(error) }),
    )
  }
  for (const job of unsaid) await each(job, (deps) => sayEnd(deps, job.jobId))
  for (const job of unwanted)
    await each(job, async (deps) => {
      const { state } = await settleUnwanted(deps, job.jobId)
      if (!call.json) cli.print(`${job.jobId} is ${state}: its runner was gone before it had done that.`)
    })
}

/** Changes what the job may do from now on; null leaves a value as it is. */
function allow(
  { store }: App,
  jobId: string,
  more: Partial<JobBudgets>,
  { maxHandoffs, permissionMode }: { maxHandoffs: number | null; permissionMode: string | null },
): void {
  if (Object.keys(more).length === 0 && maxHandoffs === null && permissionMode === null) return
  store.transaction(() => {
    const job = store.job(jobId)!
    // It is refused next, and what is refused changes nothing.
    if (job.runner !== null && isAlive(job.runner)) return
    const budgets = { ...job.spec.budgets, ...more }
    const changed = {
      ...(maxHandoffs === null ? {} : { maxHandoffs }),
      ...(permissionMode === null ? {} : { permissionMode }),
    }
    store.putJob({ ...job, spec: { ...job.spec, budgets, ...changed } })
  })
}

export async function forget(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => tell(cli, call, [one(app, jobNamed(app.store, call.words[1]!).jobId)], false))
}

/** All that ended before a time. */
export async function prune(call: Call, cli: Cli): Promise<number> {
  const written = call.value('older-than')
  if (written === null)
    throw new BatonError(
      'baton jobs prune needs --older-than.',
      'Give an age (12h, 30d, 8w) or a date (2026-01-31).',
      EXIT.usage,
    )
  const dry = call.flag('dry-run')
  return withOpenApp(cli, (app) => {
    const old = endedBefore(app.store.jobs(), parseAge(written, app.now()))
    const kept: string[] = []
    const forgotten = old.flatMap(({ jobId }) => {
      try {
        return [one(app, jobId, dry)]
      } catch (error) {
        kept.push(`${jobId}: ${error instanceof Error ? error.message : String(error)}`)
        return []
      }
    })
    const told = tell(cli, call, forgotten, dry, kept.length === 0)
    if (kept.length > 0)
      throw new BatonError(`Not forgotten: ${kept.join('; ')}`, 'The others are. Mend it and run it again.')
    return told
  })
}

function one(app: App, jobId: string, dry = false): ForgottenJob {
  return forgetJob({ store: app.store, folderOf: (id) => jobFolder(app, id) }, jobId, dry)
}

function tell(cli: Cli, call: Call, jobs: readonly ForgottenJob[], dry: boolean, isAll = true): number {
  if (call.json) {
    const shown = jobs.map(({ jobId, bytes, worktree }) => ({
      job_id: jobId,
      bytes,
      worktree_path: worktree?.path ?? null,
      branch_name: worktree?.branch ?? null,
    }))
    cli.print(JSON.stringify({ forgotten: shown, dry_run: dry }))
    return EXIT.done
  }
  for (const { jobId, bytes, worktree } of jobs) {
    cli.print(`${jobId} ${dry ? 'would be' : 'is'} forgotten (${bytesText(bytes)} of files).`)
    if (worktree) cli.print(`  Its worktree stays: ${worktree.path} (branch ${worktree.branch}).`)
  }
  if (jobs.length === 0 && isAll) cli.print('No job that has ended is as old as that.')
  return EXIT.done
}
