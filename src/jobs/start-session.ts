import type { AttemptRecord, JobRecord } from '../contract/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { AttemptHost } from './attempt-host.js'
import { moneyLeft } from './attempt-record.js'
import { LiveSession } from './live-session.js'
import type { JobParts } from './parts.js'
import type { SessionWish } from './runtimes/runtime.js'

/** What clients, hooks and checks of a job are started with. */
export function environmentOf({ env }: Pick<JobParts, 'env'>, job: JobRecord): Record<string, string> {
  const { jobId, seatId, parentSeatId: parent, spec } = job
  return { ...env, ...spec.env, BATON_JOB_ID: jobId, BATON_SEAT: seatId, ...(parent && { BATON_PARENT_SEAT: parent }) }
}

export const folderOf = ({ workspace, spec }: JobRecord): string => workspace?.folder ?? spec.folder

/** What a session of a job may still cost; null: no bound. */
export function moneyFor({ store }: Pick<JobParts, 'store'>, attempt: AttemptRecord): number | null {
  return moneyLeft(store.job(attempt.jobId)!, store.attempts(attempt.jobId), attempt)
}

/** Starts a client for a session of a job; `keep` gets every line it writes. Throws where it cannot be started. */
export async function startSession(
  parts: JobParts,
  host: AttemptHost,
  { begin, sessionId }: Pick<SessionWish, 'begin' | 'sessionId'>,
  keep: (line: string) => void,
): Promise<LiveSession> {
  const job = parts.store.job(host.attempt.jobId)!
  const { runtime: name, folder, model, permissionMode, allowedTools, disallowedTools, appendSystemPrompt } = job.spec
  const runtime = await parts.runtime(name, folder)
  const missing = runtime.missing()
  if (missing !== null) throw new BatonError(missing, '', EXIT.failed)
  const maxBudgetUsd = moneyFor(parts, host.attempt)
  const live = new LiveSession(
    runtime,
    {
      ...{ sessionId, begin, cwd: folderOf(job), env: environmentOf(parts, job), model, permissionMode },
      ...{ allowedTools, disallowedTools, appendSystemPrompt, maxTurns: null, maxBudgetUsd, compacts: true },
    },
    host,
  )
  live.onRaw(keep)
  return live
}
