import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { resolveJobRequest, startRunner } from '../../app/jobs.js'
import { withOpenApp } from '../../app/open-app.js'
import { createJob, deniedEdits, RUNNER_APP_OPTIONS, runJobsHere } from '../../app/run-jobs.js'
import type { JobFlags } from '../../config/resolve-agent.js'
import type { Event } from '../../contract/records/event.js'
import type { JobBudgets, JobRecord, JobSpec, RuntimeName } from '../../contract/records/job.js'
import type { App } from '../../engine/open-engine.js'
import { requestStop } from '../../jobs/stop-job.js'
import { attemptsToShow, viewJob } from '../../jobs/view-job.js'
import { EXIT, reasonOf } from '../../lib/errors.js'
import type { Call, Cli, Command } from '../command.js'
import { usageError } from '../parse-call.js'
import { type JobDisplay, jobResultLines, makeJobDisplay } from '../render/job-page.js'
import { readInput } from '../terminal.js'
import { offerTrust } from './trust.js'

const FIRST_BYTE_MS = 30_000
const WHOLE_MS = 60_000

export async function runJobsCommand(call: Call, cli: Cli, command: Command): Promise<number> {
  const order = { folder: cli.cwd, agentName: call.words[0] ?? null, flags: await flagsOf(call, cli, command) }
  await offerTrust(call, cli)
  const settled = await resolveJobRequest(order, cli)
  warnOfDenials(settled, cli)
  return withOpenApp(
    cli,
    async (app) => {
      const { jobId } = createJob(app, cli.env, settled, { runsHere: !call.flag('detach') })
      return call.flag('detach')
        ? startDetachedJobs(app, cli, call, [jobId])
        : runJobsInForeground(app, cli, call, [jobId])
    },
    RUNNER_APP_OPTIONS,
  )
}

async function flagsOf(call: Call, cli: Cli, command: Command): Promise<JobFlags> {
  const prompt = await promptOf(call, cli, command)
  const checks = call.values('check')
  if (checks.some((check) => check.trim() === ''))
    throw usageError(command, '--check is empty.', 'Give a command that must succeed, such as --check "npm test".')
  const maxHandoffs = parseBudget(call, command, 'max-handoffs')
  return {
    ...(prompt === null ? {} : { prompt }),
    ...given('model', call.value('model')),
    ...given('permissionMode', call.value('permission-mode')),
    ...given('runtime', call.value('runtime') as RuntimeName | null),
    ...given('workItem', call.value('work-item')),
    ...given('resumeSession', call.value('resume-session')),
    ...given('maxHandoffs', maxHandoffs),
    ...(checks.length > 0 ? { checks } : {}),
    budgets: parseBudgets(call, command),
    ...(call.flag('worktree') ? { worktree: true } : {}),
  }
}

function given<K extends string, V>(key: K, value: V | null): { [key in K]?: V } {
  return (value === null ? {} : { [key]: value }) as { [key in K]?: V }
}

/** Returns the budgets that are given on the command line. */
export function parseBudgets(call: Call, command: Command): Partial<JobBudgets> {
  return {
    ...given('usd', parseBudget(call, command, 'budget-usd')),
    ...given('tokens', parseBudget(call, command, 'budget-tokens')),
    ...given('turns', parseBudget(call, command, 'budget-turns')),
    ...given('minutes', parseBudget(call, command, 'budget-minutes')),
  }
}

/** Parses a budget. Null when it is not given. Money may be a fraction, and handoffs may be 0. */
export function parseBudget(
  call: Call,
  command: Command,
  name: `budget-${keyof JobBudgets}` | 'max-handoffs',
): number | null {
  const written = call.value(name)
  if (written === null) return null
  const figure = Number(written)
  const money = name === 'budget-usd'
  const least = name === 'max-handoffs' ? 0 : 1
  const ok = Number.isFinite(figure) && (money ? figure >= 0.01 : Number.isSafeInteger(figure) && figure >= least)
  if (!ok)
    throw usageError(
      command,
      `--${name} cannot be "${written}".`,
      money ? 'Give an amount of US dollars, such as 5 or 0.5.' : 'Give a whole number, such as 3.',
    )
  return figure
}

async function promptOf(call: Call, cli: Cli, command: Command): Promise<string | null> {
  const [text, file] = [call.value('prompt'), call.value('prompt-file')]
  if (text !== null && file !== null)
    throw usageError(command, '--prompt and --prompt-file exclude each other.', 'Give one of them.')
  if (file === null) return text
  if (file === '-') return readInput(process.stdin, FIRST_BYTE_MS, WHOLE_MS)
  try {
    return readFileSync(resolve(cli.cwd, file), 'utf8')
  } catch (error) {
    throw usageError(command, `--prompt-file ${file} cannot be read: ${reasonOf(error)}.`, 'Give a readable text file.')
  }
}

/** Warns before a job starts that its permission mode denies edits, and names the right option. */
export function warnOfDenials(spec: JobSpec, cli: Pick<Cli, 'env' | 'note'>): void {
  const warning = deniedEdits(spec, cli.env)
  if (warning) cli.note(warning)
}

/** Runs jobs to their end in this process and shows their progress. Returns a common exit code. */
export async function runJobsInForeground(app: App, cli: Cli, call: Call, jobIds: readonly string[]): Promise<number> {
  const display = makeJobDisplay(
    cli,
    call,
    jobIds.map((jobId) => app.store.job(jobId)!),
  )
  const tell = (events: readonly Event[]): void => {
    for (const event of events) if (event.job_id !== null && jobIds.includes(event.job_id)) display.take(event)
  }
  const unsubscribe = app.engine.listen(tell)
  const restoreSignals = stopOnSignals(app, jobIds, display)
  try {
    const refused = (jobId: string, reason: string): void => display.note(`${jobId}: ${reason}`)
    const ended = await runJobsHere(app, cli.env, jobIds, { tell, showLine: display.line, refused })
    display.end()
    const jobs = ended.filter((job) => job !== null)
    for (const job of jobs) tellEnd(app, cli, call, job)
    return Math.max(jobs.length < ended.length ? EXIT.refused : 0, ...jobs.map(exitOf))
  } finally {
    display.end()
    restoreSignals()
    unsubscribe()
  }
}

function tellEnd(app: App, cli: Cli, call: Call, job: JobRecord): void {
  const view = viewJob(job, attemptsToShow(app.store, job.jobId))
  if (call.json || call.value('output-format') === 'stream-json') cli.print(JSON.stringify(view))
  else cli.print(jobResultLines(view, cli.screen, app.now()).join('\n'))
}

function exitOf({ state }: Pick<JobRecord, 'state'>): number {
  return state === 'completed' ? EXIT.done : state === 'paused' ? EXIT.resumable : EXIT.failed
}

/**
 * Pauses the jobs at Ctrl-C and cancels them at the second.
 * SIGTERM and SIGHUP only stop them after the current step, so that they can be resumed:
 * a shutdown or a closed terminal is no decision about the jobs.
 * Returns a function that removes the listeners.
 */
function stopOnSignals(app: App, jobIds: readonly string[], display: JobDisplay): () => void {
  let interrupts = 0
  const stop = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT') interrupts++
    const wanted = interrupts > 1 ? 'cancel' : signal === 'SIGINT' ? 'pause' : 'leave'
    const open = jobIds.filter((jobId) => requestStop(app, jobId, wanted))
    if (open.length === 0) display.note('The job has ended. Waiting for its after_run hooks …')
    else if (interrupts > 1) display.note('Cancelling …')
    else display.note(`Pausing after the current step …${interrupts > 0 ? ' (Ctrl-C again cancels)' : ''}`)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  return () => {
    for (const signal of signals) process.off(signal, stop)
  }
}

/**
 * Starts each job in its own process, which outlives this one and its terminal, and reports them.
 */
export function startDetachedJobs(app: App, cli: Cli, call: Call, jobIds: readonly string[]): number {
  for (const jobId of jobIds) {
    const { pid, log } = startRunner(app, cli, jobId)
    const job = app.store.job(jobId)!
    if (call.json) cli.print(JSON.stringify({ ...viewJob(job, attemptsToShow(app.store, jobId)), pid, log }))
    else cli.print(`${jobId} runs in the background (process ${pid}). To watch it: baton jobs logs ${jobId} --follow.`)
  }
  return EXIT.done
}
