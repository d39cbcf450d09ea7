import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { findProjectFile } from '../config/find-project.js'
import { loadConfig } from '../config/load-config.js'
import { type JobFlags, resolveAgent } from '../config/resolve-agent.js'
import type { JobDetail, JobLogLine, JobLogPart, JobView, Projects } from '../contract/api/jobs.js'
import type { ParsedBody } from '../contract/api/routes.js'
import type { ProjectFile } from '../contract/policy.js'
import type { JobSpec } from '../contract/records/job.js'
import type { App } from '../engine/open-engine.js'
import { findRunObstacle } from '../jobs/claim-job.js'
import { findJob, isRecentJob, listRecentJobs } from '../jobs/find-job.js'
import { type ForgottenJob, forgetJob, forgettableJobs } from '../jobs/forget-job.js'
import { readLogPart } from '../jobs/job-log.js'
import { newJob } from '../jobs/new-job.js'
import { jobLogPath } from '../jobs/run-job.js'
import { attemptsToShow, viewJob, viewJobDetail } from '../jobs/view-job.js'
import { checkWorkspace } from '../jobs/workspace/set-up.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { batonHome } from '../lib/home.js'
import { readNamedFile } from '../lib/named-file.js'
import { jobFolder } from './open-jobs.js'
import { openRuntime } from './open-runtime.js'
import type { OwnProgram } from './own-program.js'

export interface JobUseCases {
  /** Lists open jobs and those of the last week, newest first, like `jobs list`. */
  jobs(all: boolean): JobView[]
  /** Returns a job of the list by its whole id. Null when the job is not in the list. */
  listedJob(jobId: string): JobView | null
  job(id: string): JobDetail
  /**
   * Reads a part of a job's log. `after` is the `next` of the previous part, null for the first.
   */
  jobLog(id: string, after: string | null): JobLogPart
  startJob(order: ParsedBody<'startJob'>): Promise<JobView>
  cancelJob(id: string): Promise<JobView>
  pauseJob(id: string): Promise<JobView>
  resumeJob(id: string): JobView
  projects(): Projects
}

/** Maximum length of one output of the client, in characters. */
const LONGEST_TEXT = 4_000
/** Maximum number of projects, because every folder is read. */
const MOST_PROJECTS = 100

export function jobUseCases(app: App, program: OwnProgram): JobUseCases {
  const { store } = app
  const shown = (jobId: string): JobView => viewJob(store.job(jobId)!, attemptsToShow(store, jobId))
  const folders = (): string[] => [...new Set(store.sessions().flatMap(({ project }) => project ?? []))]
  return {
    jobs: (all) => listRecentJobs(store, all, app.now()),
    listedJob(jobId) {
      const job = store.job(jobId)
      return job !== null && isRecentJob(job, app.now()) ? shown(jobId) : null
    },
    job(id) {
      const job = findJob(store, id)
      return viewJobDetail(job, attemptsToShow(store, job.jobId), jobFolder(app, job.jobId))
    },
    jobLog(id, after) {
      const { jobId, spec } = findJob(store, id)
      const { lines, ...place } = readLogPart(jobLogPath(jobFolder(app, jobId)), after)
      return { lines: lines.flatMap((line) => program.readLogLine(line, spec.agent)).map(cutOff), ...place }
    },
    async startJob({ project, agent, prompt, work_item, permission_mode }) {
      if (!folders().includes(project))
        throw new BatonError(
          `Baton has not seen a session in ${project}.`,
          'Choose a project that had a session, or start the job in that folder: baton run.',
          EXIT.notFound,
        )
      const flags = {
        ...(prompt === null ? {} : { prompt }),
        ...(work_item === null ? {} : { workItem: work_item }),
        ...(permission_mode === null ? {} : { permissionMode: permission_mode }),
      }
      const { jobId } = await program.startJob({ folder: project, agentName: agent, flags })
      return shown(jobId)
    },
    async cancelJob(id) {
      const { jobId } = findJob(store, id)
      await program.command(['jobs', '--json', 'cancel', jobId])
      return shown(jobId)
    },
    async pauseJob(id) {
      const { jobId } = findJob(store, id)
      await program.command(['jobs', '--json', 'pause', jobId])
      return shown(jobId)
    },
    resumeJob: (id) => shown(program.resumeJob(findJob(store, id).jobId).jobId),
    projects: () => ({ projects: folders().filter(existsSync).slice(0, MOST_PROJECTS).map(projectIn) }),
  }

  function projectIn(project: string): Projects['projects'][number] {
    const { config, problems, project: file } = loadConfig({ home: app.home, project, env: program.env })
    const agents = Object.entries(config.agents).map(([name, agent]) => ({
      name,
      has_prompt: (agent.prompt ?? agent.prompt_file ?? null) !== null,
      model: agent.model ?? null,
      permission_mode: agent.permission_mode ?? null,
    }))
    const [first] = problems
    const wrong = first === undefined ? null : `${first.file}: ${first.key ? `${first.key}: ` : ''}${first.reason}`
    const untrusted = file?.trusted === false && file.ignored.length > 0 ? file : null
    const trouble =
      wrong ?? (untrusted && `${untrusted.path} is not trusted (${untrusted.reason}): run baton trust there`)
    return { project, agents, trouble }
  }
}

function cutOff(line: JobLogLine): JobLogLine {
  return line.text.length <= LONGEST_TEXT ? line : { ...line, text: `${line.text.slice(0, LONGEST_TEXT)}…` }
}

interface JobOrder {
  /** The folder of the request, whose `baton.yaml` applies. */
  folder: string
  /** Name of an agent in `baton.yaml`. Null for the prompt alone. */
  agentName: string | null
  /** Values that override those of the agent. */
  flags?: JobFlags
  /** The seat (terminal or job) of the requesting session. Absent for a user. */
  parentSeatId?: string | null
}

interface StartedRunner {
  jobId: string
  /**
   * The process that runs the job.
   * Null when the process could not be started. The job then waits for `jobs resume`.
   */
  pid: number | null
  /** File with the output of that process. */
  log: string
}

/** The environment and program of the process that starts jobs. */
interface Starter {
  env: Record<string, string | undefined>
  /** The program of the runner. Absent for the program of this process. */
  baton?: string
}

/**
 * Resolves a job request and checks that folder, repository and runtime exist.
 * Throws a `BatonError` otherwise.
 */
export async function resolveJobRequest(
  { folder: cwd, agentName, flags = {} }: JobOrder,
  { env }: Starter,
): Promise<JobSpec> {
  const spec = specOf(cwd, agentName, flags, env)
  await checkWorkspace(spec.workspace, spec.folder, { env: { ...env, ...spec.env } })
  const missing = (await openRuntime(spec.agent, spec.runtime, spec.folder, { env })).missing()
  if (missing === null) return spec
  throw new BatonError(
    `The runtime ${spec.runtime} cannot be used: ${missing}.`,
    'Choose another with --runtime; baton doctor lists the available ones.',
  )
}

/**
 * Starts a new job in a process of its own, which outlives this one.
 * Resolves when the job is stored and started.
 * Throws a `BatonError` when the job cannot start.
 */
export async function startJob(app: App, starter: Starter, order: JobOrder): Promise<StartedRunner> {
  const spec = await resolveJobRequest(order, starter)
  const request = { spec, parentSeatId: order.parentSeatId ?? null, runner: null }
  const { jobId } = newJob(app.store, request, app.now().toISOString(), app.newId)
  return startRunner(app, starter, jobId)
}

/**
 * Resumes a paused, failed or lost job in a process of its own. Throws a `BatonError` on failure.
 */
export function resumeJob(app: App, starter: Starter, jobId: string): StartedRunner {
  const why = findRunObstacle(app, jobId)
  if (why !== null) throw why
  return startRunner(app, starter, jobId)
}

/** Starts the process that continues a stored job: `baton jobs resume` with its id. */
export function startRunner(app: Pick<App, 'home' | 'store'>, { env, baton }: Starter, jobId: string): StartedRunner {
  const { folder: cwd } = app.store.job(jobId)!.spec
  if (!existsSync(cwd))
    throw new BatonError(
      `The folder ${cwd} of job ${jobId} does not exist any more.`,
      'Restore it and resume the job, or start another one: baton run.',
      EXIT.notFound,
    )
  const folder = jobFolder(app, jobId)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const log = join(folder, 'runner.log')
  const out = openSync(log, 'a', 0o600)
  // Remove the job's variables.
  // When the job around this process ends, the new process must not end with it.
  const { BATON_JOB_ID: _, BATON_RUN_SESSION: __, ...rest } = env
  try {
    const child = spawn(process.execPath, [baton ?? process.argv[1]!, 'jobs', 'resume', jobId], {
      cwd,
      env: rest,
      detached: true,
      stdio: ['ignore', out, out],
    })
    // Without a listener, a failed start would end this process.
    // The job stays in the store for the next `jobs resume`.
    child.on('error', () => {})
    child.unref()
    return { jobId, pid: child.pid ?? null, log }
  } finally {
    closeSync(out)
  }
}

/**
 * Refuses an untrusted project file.
 * Without the file's checks, hooks and limits, the job would do something else.
 */
function refuseUntrusted(file: ProjectFile | null): void {
  if (file === null || file.trusted || file.ignored.length === 0) return
  const keys = [...new Set(file.ignored.map(({ key }) => key))]
  throw new BatonError(
    `${file.path} is not trusted (${file.reason}), so no job is started here. It sets ${listKeys(keys)}.`,
    file.reason === 'belongs to another user'
      ? 'Make a copy that belongs to you, read it, then run baton trust.'
      : 'Read the file, then run baton trust in its folder, or baton run --trust.',
    EXIT.refused,
    { untrusted: file.path, ignored: file.ignored },
  )
}

const listKeys = (keys: readonly string[]): string =>
  keys.length <= 8 ? keys.join(', ') : `${keys.slice(0, 8).join(', ')} and ${keys.length - 8} more`

function specOf(cwd: string, agentName: string | null, flags: JobFlags, env: Starter['env']): JobSpec {
  const userHome = env.HOME || homedir()
  const { config, problems, project: projectFile } = loadConfig({ home: batonHome(env), project: cwd, cwd, env })
  const first = problems[0]
  if (first)
    throw new BatonError(
      `${first.file}: ${first.key ? `${first.key}: ` : ''}${first.reason}.`,
      first.hint || 'Run baton config check.',
      EXIT.usage,
      { problems },
    )
  refuseUntrusted(projectFile)
  const file = findProjectFile(cwd, userHome)
  const project = file === null ? null : dirname(file)
  const spec = resolveAgent(config, agentName, flags, { cwd, project, userHome, readText: readProjectText })
  const folder = resolve(spec.folder)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { ...spec, folder }
  throw new BatonError(
    `${folder} is not a folder${agentName === null ? '' : ` (working_directory of the agent \`${agentName}\`)`}.`,
    'Give an existing folder, relative to the folder of baton.yaml.',
    EXIT.usage,
  )
}

/** Maximum size of a prompt file, far above any prompt that a client accepts. */
const LARGEST_PROMPT = 16 * 1024 * 1024

/** Reads a file that an agent in `baton.yaml` names. Throws when it is not a readable file. */
function readProjectText(path: string): string {
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_PROMPT })
  if ('refused' in read) throw new Error(read.reason)
  if (read.more) throw new Error(`${path} is larger than 16 MB.`)
  return read.bytes.toString('utf8')
}

/** Deletes the data of one ended job. */
export function forgetNamedJob(app: App, name: string): ForgottenJob {
  return forgetOne(app, findJob(app.store, name).jobId, false)
}

/**
 * Deletes the data of all jobs that ended before a time.
 * `kept` lists the reasons why data of some jobs could not be deleted.
 */
export function pruneJobs(app: App, before: string, dry: boolean): { forgotten: ForgottenJob[]; kept: string[] } {
  const kept: string[] = []
  const forgotten = forgettableJobs(app.store.jobs(), before).flatMap(({ jobId }) => {
    try {
      return [forgetOne(app, jobId, dry)]
    } catch (error) {
      kept.push(`${jobId}: ${reasonOf(error)}`)
      return []
    }
  })
  return { forgotten, kept }
}

function forgetOne(app: App, jobId: string, dry: boolean): ForgottenJob {
  return forgetJob({ store: app.store, folderOf: (id) => jobFolder(app, id) }, jobId, dry)
}
