import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { forgetNamedJob, pruneJobs } from '../../app/jobs.js'
import { withOpenApp } from '../../app/open-app.js'
import { jobFolder } from '../../app/open-jobs.js'
import { findJob, listRecentJobs } from '../../jobs/find-job.js'
import type { ForgottenJob } from '../../jobs/forget-job.js'
import { isJobOver } from '../../jobs/job.js'
import { LogReader } from '../../jobs/job-log.js'
import { jobLogPath } from '../../jobs/run-job.js'
import { attemptsToShow, viewJob, viewJobDetail } from '../../jobs/view-job.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { isAlive } from '../../lib/process-info.js'
import type { Call, Cli, Command } from '../command.js'
import { parseAge } from '../parse-values.js'
import { logPrinter } from '../render/job-log-lines.js'
import { jobPage, jobTable } from '../render/job-page.js'
import { bytesText } from '../render/text.js'
import { untilStopped } from '../terminal.js'

export async function listJobsCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const views = listRecentJobs(app.store, call.flag('all'), app.now())
    if (call.json) cli.print(JSON.stringify({ jobs: views }))
    else if (views.length > 0) cli.print(jobTable(views, cli.screen, app.now()).join('\n'))
    else
      cli.print(
        app.store.jobs().length === 0
          ? 'No jobs yet. Start one: baton run --prompt TEXT.'
          : 'No recent jobs. baton jobs list --all lists the older ones.',
      )
    return EXIT.done
  })
}

export async function showJobCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const job = findJob(app.store, call.words[1]!)
    const view = viewJobDetail(job, attemptsToShow(app.store, job.jobId), jobFolder(app, job.jobId))
    cli.print(call.json ? JSON.stringify(view) : jobPage(view, cli.screen, app.now()).join('\n'))
    return EXIT.done
  })
}

const EVERY_MS = 250

export async function showJobLogCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, async (app) => {
    const { jobId, spec } = findJob(app.store, call.words[1]!)
    const path = jobLogPath(jobFolder(app, jobId))
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
    if (isEmpty) cli.note(`The log of ${jobId} is empty. baton jobs show ${jobId} shows the state of the job.`)
    if (!call.flag('follow')) return EXIT.done
    let stopped = false
    void untilStopped().then(() => {
      stopped = true
    })
    for (;;) {
      // The job may have been forgotten since the last round.
      const job = app.store.job(jobId)
      const isAtRest =
        job === null || isJobOver(job.state) || job.state === 'paused' || (job.runner !== null && !isAlive(job.runner))
      newest.read(print)
      if (isAtRest || stopped) return EXIT.done
      await sleep(EVERY_MS)
    }
  })
}

/** Imports the runner lazily, because listing jobs does not need it. */
const runJobs = () => import('../../app/run-jobs.js')

export const cancelJobCommand = (call: Call, cli: Cli): Promise<number> => stop(call, cli, 'cancel')
export const pauseJobCommand = (call: Call, cli: Cli): Promise<number> => stop(call, cli, 'pause')

async function stop(call: Call, cli: Cli, how: 'pause' | 'cancel'): Promise<number> {
  const { RUNNER_APP_OPTIONS, stopJob } = await runJobs()
  return withOpenApp(
    cli,
    async (app) => {
      const job = await stopJob(app, cli.env, call.words[1]!, how)
      if (call.json) cli.print(JSON.stringify(viewJob(job, attemptsToShow(app.store, job.jobId))))
      else cli.print(`${job.jobId} is ${job.state}${job.detail === '' ? '' : `: ${job.detail}`}.`)
      return EXIT.done
    },
    RUNNER_APP_OPTIONS,
  )
}

/** Resumes one job, or all jobs whose process died. */
export async function resumeJobCommand(call: Call, cli: Cli, command: Command): Promise<number> {
  const { RUNNER_APP_OPTIONS, jobsToResume } = await runJobs()
  const { parseBudgets, parseBudget, runJobsInForeground, startDetachedJobs, warnOfDenials } = await import(
    './run-jobs.js'
  )
  const changes = {
    budgets: parseBudgets(call, command),
    maxHandoffs: parseBudget(call, command, 'max-handoffs'),
    permissionMode: call.value('permission-mode'),
  }
  return withOpenApp(
    cli,
    async (app) => {
      const jobs = await jobsToResume(app, cli.env, call.words[1] ?? null, changes, (jobId, state) => {
        if (!call.json) cli.print(`${jobId} is now ${state}. Its process died before it could do that.`)
      })
      for (const { spec } of jobs) warnOfDenials(spec, cli)
      const jobIds = jobs.map(({ jobId }) => jobId)
      if (jobIds.length > 0)
        return call.flag('detach')
          ? startDetachedJobs(app, cli, call, jobIds)
          : runJobsInForeground(app, cli, call, jobIds)
      if (!call.json)
        cli.print(
          'No job was interrupted. To resume a paused job, name it: baton jobs resume <id> (see baton jobs list).',
        )
      return EXIT.done
    },
    RUNNER_APP_OPTIONS,
  )
}

export async function forgetJobCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => tell(cli, call, [forgetNamedJob(app, call.words[1]!)], false))
}

/** Forgets all jobs that ended before a time. */
export async function pruneJobsCommand(call: Call, cli: Cli): Promise<number> {
  const written = call.value('older-than')
  if (written === null)
    throw new BatonError(
      'baton jobs prune needs --older-than.',
      'Give an age or a date: --older-than 30d, --older-than 2026-01-31.',
      EXIT.usage,
    )
  const dry = call.flag('dry-run')
  return withOpenApp(cli, (app) => {
    const { forgotten, kept } = pruneJobs(app, parseAge(written, app.now()), dry)
    const told = tell(cli, call, forgotten, dry, kept.length === 0)
    if (kept.length > 0)
      throw new BatonError(
        `${formatCount(kept.length, 'job')} could not be deleted: ${kept.join('; ')}`,
        'The others were. Fix the cause and run the command again.',
      )
    return told
  })
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
    cli.print(`${dry ? 'Would delete' : 'Deleted'} ${jobId} (${bytesText(bytes)} of files).`)
    if (worktree) cli.print(`  Its worktree stays: ${worktree.path} (branch ${worktree.branch}).`)
  }
  if (jobs.length === 0 && isAll) cli.print('No ended job is that old. baton jobs list --all lists all jobs.')
  return EXIT.done
}
