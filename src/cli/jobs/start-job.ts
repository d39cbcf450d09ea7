import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { findProjectFile } from '../../config/find-project.js'
import { loadConfig } from '../../config/load-config.js'
import { type JobFlags, resolveAgent } from '../../config/resolve-agent.js'
import type { JobSpec } from '../../contract/job.js'
import type { House } from '../../house.js'
import { whyNotTaken } from '../../jobs/claim.js'
import { newJob } from '../../jobs/new-job.js'
import { checkWorkspace } from '../../jobs/workspace/set-up.js'
import { jobFolder } from '../../jobs-of.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { openRuntime } from './open-runtime.js'

export interface JobOrder {
  /** Where it is asked for: its `baton.yaml` counts. */
  folder: string
  /** An agent of `baton.yaml`; null: the prompt alone. */
  agentName: string | null
  /** What is wanted otherwise than the agent has it. */
  flags?: JobFlags
  /** The seat of whoever asks; left out: a person. */
  parentSeatId?: string | null
}

export interface StartedRunner {
  jobId: string
  /** The process that runs it; null: it could not be started, and the job waits for whoever looks for lost ones. */
  pid: number | null
  /** What that process prints. */
  log: string
}

/** Whoever starts jobs. */
export interface Starter {
  env: Record<string, string | undefined>
  /** The program a runner is; left out: the one this process is. */
  baton?: string
}

/** All that is asked for, settled and found possible: folder, repository and what runs it are there. Throws a `BatonError` otherwise. */
export async function settleOrder({ folder: cwd, agentName, flags = {} }: JobOrder, { env }: Starter): Promise<JobSpec> {
  const spec = specOf(cwd, agentName, flags, env)
  await checkWorkspace(spec.workspace, spec.folder, { env: { ...env, ...spec.env } })
  const missing = (await openRuntime(spec.runtime, spec.folder, { env })).missing()
  if (missing === null) return spec
  throw new BatonError(`The runtime ${spec.runtime} cannot be used: ${missing}.`, 'baton doctor shows what is there.')
}

/** A new job in a process of its own, which outlives this one. Resolves when it is stored and started; throws a `BatonError` where it cannot be. */
export async function startJob(house: House, starter: Starter, order: JobOrder): Promise<StartedRunner> {
  const spec = await settleOrder(order, starter)
  const wish = { spec, parentSeatId: order.parentSeatId ?? null, runner: null }
  const { jobId } = newJob(house.store, wish, house.now().toISOString(), house.newId)
  return startRunner(house, starter, jobId)
}

/** A job that was paused, failed or lost its runner goes on in a process of its own. Throws a `BatonError` where it cannot. */
export function resumeJob(house: House, starter: Starter, jobId: string): StartedRunner {
  const why = whyNotTaken(house, jobId)
  if (why !== null) throw why
  return startRunner(house, starter, jobId)
}

/** The process that carries a stored job on: `baton jobs resume` of it alone. */
export function startRunner(house: Pick<House, 'home' | 'store'>, { env, baton }: Starter, jobId: string): StartedRunner {
  const { folder: cwd } = house.store.job(jobId)!.spec
  if (!existsSync(cwd))
    throw new BatonError(`The folder ${cwd} of job ${jobId} is gone.`, 'baton run begins another job.', EXIT.notFound)
  const folder = jobFolder(house, jobId)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const log = join(folder, 'runner.log')
  const out = openSync(log, 'a', 0o600)
  // It belongs to no job itself: whoever ends a job around this process does not end it.
  const { BATON_JOB_ID: _, BATON_RUN_SESSION: __, ...rest } = env
  try {
    const child = spawn(process.execPath, [baton ?? process.argv[1]!, 'jobs', 'resume', jobId], {
      ...{ cwd, env: rest, detached: true, stdio: ['ignore', out, out] },
    })
    // Without a listener it would end this process; the job stays where the next who looks for lost ones finds it.
    child.on('error', () => {})
    child.unref()
    return { jobId, pid: child.pid ?? null, log }
  } finally {
    closeSync(out)
  }
}

function specOf(cwd: string, agentName: string | null, flags: JobFlags, env: Starter['env']): JobSpec {
  const userHome = env.HOME || homedir()
  const { config, problems } = loadConfig({ home: batonHome(env), project: cwd, cwd, env })
  const first = problems[0]
  if (first)
    throw new BatonError(
      `${first.file}: ${first.key ? `${first.key}: ` : ''}${first.reason}.`,
      first.hint || 'See baton config check.',
      EXIT.usage,
      { problems },
    )
  const file = findProjectFile(cwd, userHome)
  const project = file === null ? null : dirname(file)
  const readText = (path: string): string => readFileSync(path, 'utf8')
  const spec = resolveAgent(config, agentName, flags, { cwd, project, userHome, readText })
  const folder = resolve(spec.folder)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { ...spec, folder }
  throw new BatonError(
    `${folder} is no folder${agentName === null ? '' : ` (working_directory of the agent \`${agentName}\`)`}.`,
    'Name one that exists; it is taken from where baton.yaml lies.',
    EXIT.usage,
  )
}
