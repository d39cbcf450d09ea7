import { existsSync } from 'node:fs'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import type { SessionOptions } from '../contract/runtime.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { AttemptHost } from './attempt-host.js'
import { budgetLeft } from './attempt-record.js'
import { callsFile } from './brief-appendix.js'
import type { JobDependencies } from './dependencies.js'
import { LiveSession } from './live-session.js'

/** Returns the environment of a job's clients, hooks and checks. */
export function jobProcessEnvironment({ env }: Pick<JobDependencies, 'env'>, job: JobRecord): Record<string, string> {
  const { jobId, seatId, parentSeatId: parent, spec } = job
  return { ...env, ...spec.env, BATON_JOB_ID: jobId, BATON_SEAT: seatId, ...(parent && { BATON_PARENT_SEAT: parent }) }
}

export const jobFolder = ({ workspace, spec }: JobRecord): string => workspace?.folder ?? spec.folder

/** Returns the cost in USD that a session of a job may still cause. Null without a budget. */
export function budgetLeftFor({ store }: Pick<JobDependencies, 'store'>, attempt: AttemptRecord): number | null {
  return budgetLeft(store.job(attempt.jobId)!, store.attempts(attempt.jobId), attempt)
}

/**
 * Returns the tools allowed without asking, plus reading the call list that the brief refers to.
 * The list is outside the agent's folder, where most permission modes deny reading.
 */
function withReadableCallList(
  deps: JobDependencies,
  { jobId, number }: AttemptRecord,
  tools: string[] | null,
): string[] | null {
  const path = callsFile(deps.folderOf(jobId), number - 1)
  return existsSync(path) ? [...(tools ?? []), `Read(/${path})`] : tools
}

/**
 * Starts a client for a session of a job. `keep` receives every line it writes.
 * Throws when the client cannot be started.
 */
export async function startSession(
  deps: JobDependencies,
  host: AttemptHost,
  { begin, sessionId }: Pick<SessionOptions, 'begin' | 'sessionId'>,
  keep: (line: string) => void,
): Promise<LiveSession> {
  const job = deps.store.job(host.attempt.jobId)!
  const { runtime: name, folder, model, permissionMode, allowedTools, disallowedTools, appendSystemPrompt } = job.spec
  const runtime = await deps.runtime(name, folder, job.spec.agent)
  const missing = runtime.missing()
  if (missing !== null) throw new BatonError(missing, '', EXIT.failed)
  const maxBudgetUsd = budgetLeftFor(deps, host.attempt)
  const live = new LiveSession(
    runtime,
    {
      sessionId,
      begin,
      cwd: jobFolder(job),
      // A fork only writes a brief. Installed hooks must neither list nor warn it.
      env:
        begin.how === 'fork'
          ? { ...jobProcessEnvironment(deps, job), BATON_DISABLE: '1' }
          : jobProcessEnvironment(deps, job),
      model,
      permissionMode,
      allowedTools: withReadableCallList(deps, host.attempt, allowedTools),
      disallowedTools,
      appendSystemPrompt,
      maxTurns: null,
      maxBudgetUsd,
      compacts: true,
    },
    host,
  )
  live.onRaw(keep)
  return live
}
