import { callingSession } from '../agents/clients.js'
import { agentRuntimes } from '../agents/runtimes.js'
import { loadConfig } from '../config/load-config.js'
import type { Event } from '../contract/records/event.js'
import type { JobBudgets, JobRecord, JobSpec, RuntimeName } from '../contract/records/job.js'
import type { Runtime } from '../contract/runtime.js'
import type { App } from '../engine/open-engine.js'
import { findRunObstacle } from '../jobs/claim-job.js'
import type { JobDependencies } from '../jobs/dependencies.js'
import { findJob, findLostJobs } from '../jobs/find-job.js'
import { whyNotUsable } from '../jobs/first-session.js'
import { newJob } from '../jobs/new-job.js'
import { runJob, runLateEndHooks } from '../jobs/run-job.js'
import { cancelJob, carryOutStop, pauseJob } from '../jobs/stop-job.js'
import { BatonError, reasonOf } from '../lib/errors.js'
import { isAlive, ownIdentity } from '../lib/process-info.js'
import { terminalOf } from '../lib/process-terminal.js'
import { jobsOf } from './open-jobs.js'
import { openRuntime } from './open-runtime.js'
import { sessionNamed } from './sessions.js'
import { copyTrustToWorktree } from './trust-project.js'

type Env = Record<string, string | undefined>

/**
 * Options of a process that runs jobs. It lives long, and other processes write at the same time.
 */
export const RUNNER_APP_OPTIONS = { configMs: 1_000, busyMs: 30_000, keeps: true } as const

/**
 * Stores a new job.
 * With `runsHere` this process is its runner at once, so that no starting server resumes the job.
 */
export function createJob(app: App, env: Env, settled: JobSpec, { runsHere }: { runsHere: boolean }): JobRecord {
  const at = app.now().toISOString()
  const spec = onSession(app, settled)
  const runner = runsHere ? ownIdentity() : null
  return newJob(app.store, { spec, parentSeatId: callingSeat(app, env), runner }, at, app.newId)
}

/**
 * Replaces the name of a session by its whole id. Throws when the job cannot run on that session.
 */
function onSession(app: App, spec: JobSpec): JobSpec {
  const named = spec.session?.resume
  if (!named) return spec
  const { sessionId } = sessionNamed(app, named)
  const why = whyNotUsable(app.store, sessionId, spec, spec.folder)
  if (why !== null) throw why
  return { ...spec, session: { ...spec.session!, resume: sessionId } }
}

/**
 * Returns the seat of the caller's session, or the seat named in the environment.
 * Null for the user.
 */
function callingSeat({ store }: App, env: Env): string | null {
  const caller = callingSession(env)
  const session = caller ? store.session(caller) : null
  if (session !== null) return session.seatId
  for (const name of [env.BATON_SEAT, env.BATON_PARENT_SEAT]) {
    const seat = name ? (store.seatByName(name) ?? store.seat(name)) : null
    if (seat) return seat.seatId
  }
  return null
}

/** Receivers of a running job's output and events. */
interface JobListeners {
  tell(events: readonly Event[]): void
  showLine?: JobDependencies['showLine']
}

/** Returns the dependencies of jobs that run in this process. */
function dependenciesHere(
  app: App,
  env: Env,
  folder: string,
  { tell, showLine }: JobListeners = { tell() {} },
): JobDependencies {
  const { limits } = loadConfig({ home: app.home, project: folder, env }).config
  const opened = new Map<string, Promise<Runtime>>()
  return jobsOf(app, {
    env,
    limits: { jobs: limits.jobs ?? 4, perAgent: limits.jobs_per_agent },
    runtime(name: RuntimeName, at: string, agent: string) {
      const key = `${agent} ${name} ${at}`
      const found = opened.get(key) ?? openRuntime(agent, name, at, { env }, app.log)
      opened.set(key, found)
      return found
    },
    trustWorktree: (from, worktree) => copyTrustToWorktree(app.home, { env, now: app.now }, from, worktree),
    ...(showLine ? { showLine } : {}),
    terminal: terminalOf(process.pid),
    tell,
  })
}

/** Returns a warning when the permission mode of a job will deny edits. Null when it will not. */
export function deniedEdits(spec: JobSpec, env: Env): string | null {
  return agentRuntimes[spec.agent]?.deniedEdits(spec, { ...env, ...spec.env }) ?? null
}

/**
 * Runs jobs to their end in this process.
 * A job that cannot run is passed to `refused` and is null in the result. Other jobs continue.
 * No job outlives the call.
 */
export async function runJobsHere(
  app: App,
  env: Env,
  jobIds: readonly string[],
  { refused, ...listeners }: JobListeners & { refused(jobId: string, reason: string): void },
): Promise<(JobRecord | null)[]> {
  const all = await Promise.allSettled(
    jobIds.map(async (jobId) => {
      const deps = dependenciesHere(app, env, app.store.job(jobId)!.spec.folder, listeners)
      return runJob(deps, jobId).catch((error: unknown) => {
        if (jobIds.length === 1 || !(error instanceof BatonError)) throw error
        refused(jobId, reasonOf(error))
        return null
      })
    }),
  )
  const broken = all.find((one) => one.status === 'rejected')
  if (broken) throw broken.reason
  return all.map((one) => (one as PromiseFulfilledResult<JobRecord | null>).value)
}

/** Pauses or cancels a job, whichever process runs it. */
export async function stopJob(app: App, env: Env, name: string, how: 'pause' | 'cancel'): Promise<JobRecord> {
  const { jobId, spec } = findJob(app.store, name)
  return (how === 'pause' ? pauseJob : cancelJob)(dependenciesHere(app, env, spec.folder), jobId)
}

/** Changes for a resumed job. Null keeps a value. */
interface ResumeChanges {
  budgets: Partial<JobBudgets>
  maxHandoffs: number | null
  permissionMode: string | null
}

/**
 * Returns the jobs to resume, with their changes stored: the named job, or all whose runner died.
 * A job that the user paused must be named.
 * Throws when the named job cannot run now, so that the user sees the reason.
 */
export async function jobsToResume(
  app: App,
  env: Env,
  name: string | null,
  changes: ResumeChanges,
  settled: (jobId: string, state: JobRecord['state']) => void,
): Promise<JobRecord[]> {
  if (name === null) await settleLostJobs(app, env, settled)
  const jobs = name === null ? findLostJobs(app.store).interrupted : [resumableJob(app, name)]
  return jobs.map(({ jobId }) => {
    changeJob(app, jobId, changes)
    return app.store.job(jobId)!
  })
}

function resumableJob(app: App, name: string): JobRecord {
  const job = findJob(app.store, name)
  const why = findRunObstacle(app, job.jobId)
  if (why !== null) throw why
  return job
}

/**
 * Settles jobs whose runner died: applies a requested pause or cancellation, or runs final hooks.
 */
async function settleLostJobs(
  app: App,
  env: Env,
  settled: (jobId: string, state: JobRecord['state']) => void,
): Promise<void> {
  const { stopRequested, endHooksDue } = findLostJobs(app.store)
  const each = async (job: JobRecord, settle: (deps: JobDependencies) => Promise<void>): Promise<void> => {
    // A job that cannot be settled must not prevent the others.
    await settle(dependenciesHere(app, env, job.spec.folder)).catch((error: unknown) =>
      app.log('warn', 'a lost job could not be settled', { job: job.jobId, reason: reasonOf(error) }),
    )
  }
  for (const job of endHooksDue) await each(job, (deps) => runLateEndHooks(deps, job.jobId))
  for (const job of stopRequested)
    await each(job, async (deps) => settled(job.jobId, (await carryOutStop(deps, job.jobId)).state))
}

function changeJob({ store }: App, jobId: string, { budgets, maxHandoffs, permissionMode }: ResumeChanges): void {
  if (Object.keys(budgets).length === 0 && maxHandoffs === null && permissionMode === null) return
  store.transaction(() => {
    const job = store.job(jobId)!
    // A job that runs already will be refused, and a refused call changes nothing.
    if (job.runner !== null && isAlive(job.runner)) return
    const changed = {
      ...(maxHandoffs === null ? {} : { maxHandoffs }),
      ...(permissionMode === null ? {} : { permissionMode }),
    }
    store.putJob({ ...job, spec: { ...job.spec, budgets: { ...job.spec.budgets, ...budgets }, ...changed } })
  })
}
