import { existsSync, realpathSync } from 'node:fs'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { isAlive } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { AttemptPrompts } from './attempt-prompts.js'
import { freshAttempt, lastStartedAttempt } from './attempt-record.js'
import { type JobDependencies, recordJob } from './dependencies.js'
import { isJobOver } from './job.js'
import { handoffLevelAt, isSessionFull } from './job-levels.js'
import { addUsage } from './spend-tracker.js'
import { jobFolder } from './start-session.js'

/**
 * Stores the first attempt (session) of a job and returns it. The session is chosen in this order:
 *
 * 1. The session the user named (`--resume-session`). The job fails if it cannot be used.
 * 2. With `session.mode: persistent`, the agent's last session while it is valid.
 *    A valid session has the same folder, is not full and not older than `session.timeout`.
 *    Instead of an invalid session, a fresh session gets that session's brief.
 * 3. A fresh session, also when the agent has no session yet.
 */
export function beginFirstAttempt(deps: JobDependencies, jobId: string): AttemptRecord {
  const job = deps.store.job(jobId)!
  const { session, agentName } = job.spec
  if (session?.resume) return beginNamedSession(deps, job, session.resume)
  if (session?.mode === 'persistent' && agentName !== null) return beginPersistent(deps, job)
  return storeFirstAttempt(deps, job, freshAttempt(deps, jobId, 1, null), null)
}

function beginNamedSession(deps: JobDependencies, job: JobRecord, sessionId: string): AttemptRecord {
  return deps.store.transaction(() => {
    const why = whyNotUsable(deps.store, sessionId, job.spec, jobFolder(job), job.jobId)
    if (why !== null) throw why
    const known = deps.store.session(sessionId)!
    const last = deps.store.attemptOfSession(sessionId)
    const { answers: _, ...spend } = known.spend
    const carried = last === null ? { spend, costUsd: known.costUsd } : carriedSpend(last)
    const attempt: AttemptRecord = {
      ...freshAttempt(deps, job.jobId, 1, null),
      sessionId,
      start: 'resume',
      carried,
      workedMs: last?.workedMs ?? 0,
      usedTokens: known.track.used,
      windowTokens: known.track.limits.window,
      pointTokens: known.track.limits.point,
    }
    return storeFirstAttempt(deps, job, attempt, { how: 'continued', reason: 'the user named it', previous: sessionId })
  })
}

function beginPersistent(deps: JobDependencies, job: JobRecord): AttemptRecord {
  const { jobId } = job
  const last = findLastSession(deps.store, job)
  if (last === null) return storeFirstAttempt(deps, job, freshAttempt(deps, jobId, 1, null), null)
  const previous = last.attempt.sessionId
  const continued = deps.store.transaction((): AttemptRecord | string => {
    // Another job or a terminal may have opened the session since it was found.
    const why = whyInvalid(deps, job, last) ?? findSessionUser(deps.store, previous, jobId)
    if (why !== null) return why
    const attempt: AttemptRecord = {
      ...freshAttempt(deps, jobId, 1, null),
      sessionId: previous,
      start: 'resume',
      carried: carriedSpend(last.attempt),
      ...continuedState(last.attempt),
    }
    return storeFirstAttempt(deps, job, attempt, { how: 'continued', reason: 'it is still valid', previous })
  })
  if (typeof continued !== 'string') return continued
  const briefId = findOrWriteBrief(deps, last, continued)
  const how = briefId === null ? 'fresh' : 'brief'
  return storeFirstAttempt(deps, job, freshAttempt(deps, jobId, 1, briefId), { how, reason: continued, previous })
}

interface LastSession {
  job: JobRecord
  attempt: AttemptRecord
}

/**
 * Returns the session of the agent's newest ended job.
 * Null when another job or process still uses every such session.
 */
function findLastSession(store: Store, job: JobRecord): LastSession | null {
  const { agentName, agent, runtime, session } = job.spec
  const newestFirst = store
    .jobs()
    .filter(({ spec }) => spec.agentName === agentName && spec.agent === agent)
    .filter(({ spec }) => spec.session !== undefined && spec.session.project === session!.project)
    // A script cannot continue a client's session, nor a client a script's session.
    .filter(({ spec }) => (spec.runtime === 'scripted') === (runtime === 'scripted'))
    .filter(({ jobId, state }) => jobId !== job.jobId && isJobOver(state))
    .sort((one, other) => Date.parse(other.endedAt ?? other.stateAt) - Date.parse(one.endedAt ?? one.stateAt))
  for (const ended of newestFirst) {
    const attempt = lastStartedAttempt(store.attempts(ended.jobId))
    // A session that never answered cannot be reopened.
    if (attempt !== null && attempt.turns > 0 && findSessionUser(store, attempt.sessionId, job.jobId) === null)
      return { job: ended, attempt }
  }
  return null
}

/** Returns why the agent's last session is not continued. Null when it is valid. */
function whyInvalid(
  { store, now }: JobDependencies,
  job: JobRecord,
  { job: last, attempt }: LastSession,
): string | null {
  const { session, handoffAtRemaining: remaining, runtime } = job.spec
  if (resolvePath(jobFolder(job)) !== resolvePath(jobFolder(last)))
    return `it worked in another folder (${jobFolder(last)})`
  const usedAt = Date.parse(last.endedAt ?? last.stateAt)
  if (now().getTime() - usedAt > session!.expiresMs)
    return 'it expired: its last use is longer ago than session.timeout'
  const { usedTokens: used, windowTokens: window, pointTokens: point, growth = [], workedMs = 0 } = attempt
  if (
    used !== null &&
    isSessionFull(used, { window, point, remaining, growth, level: handoffLevelAt(job.spec, { window, point }) })
  )
    return 'its context is full'
  if (session!.maxMs !== null && workedMs >= session!.maxMs) return 'it reached session.max_duration'
  return runtime === 'scripted' ? null : whyLost(store.session(attempt.sessionId))
}

/** Returns why the client cannot reopen a session. Null when it can. */
function whyLost(session: SessionRecord | null): string | null {
  if (session === null || session.forgottenAt !== undefined) return 'its data was deleted with baton archive forget'
  if (session.transcriptPath === null || !existsSync(session.transcriptPath)) return 'its transcript no longer exists'
  return null
}

/**
 * Returns the newest brief written at the session's end or later, else one written by code.
 * Null when neither is possible.
 */
function findOrWriteBrief(deps: JobDependencies, { job, attempt }: LastSession, reason: string): string | null {
  const { store, folderOf: filesOf } = deps
  const kept = store.briefs({ sessionId: attempt.sessionId }).at(-1)
  const end = attempt.endedAt ?? job.endedAt
  if (kept && end !== null && kept.takenAt >= end && deps.briefs.read(kept) !== null) return kept.briefId
  try {
    const prompts = new AttemptPrompts(deps, job.jobId, filesOf(job.jobId), async () => '')
    return prompts.writeBrief(attempt, `The session was not continued: ${reason}.`).briefId
  } catch (error) {
    deps.log('warn', 'no brief of the last session could be written, so the job starts without one', {
      session: attempt.sessionId,
      reason: reasonOf(error),
    })
    return null
  }
}

/**
 * Returns who uses a session now, as a reason. Null when the session is free.
 * Two clients of one session would branch its transcript.
 */
function findSessionUser(store: Store, sessionId: string, exceptJobId: string | null): string | null {
  const job = store
    .openJobs()
    .find((one) => one.sessionId === sessionId && one.jobId !== exceptJobId && !isJobOver(one.state))
  if (job) return `job ${job.jobId} uses it (${job.state})`
  const session = store.session(sessionId)
  const process = session?.state === 'ended' ? null : session?.process
  return process && isAlive(process) ? `process ${process.pid} runs it` : null
}

/** Returns why a job cannot resume its session: another job uses it. Null when it can resume. */
export function whySessionTaken(store: Store, { jobId, sessionId }: JobRecord): string | null {
  if (sessionId === null) return null
  const other = store
    .openJobs()
    .find((one) => one.sessionId === sessionId && one.jobId !== jobId && !isJobOver(one.state))
  return other === undefined ? null : `job ${other.jobId} continues its session ${sessionId}`
}

/** Returns why a job cannot use the session that the user named, as an error. Null when it can. */
export function whyNotUsable(
  store: Store,
  sessionId: string,
  { agent, runtime, workspace }: Pick<JobRecord['spec'], 'agent' | 'runtime' | 'workspace'>,
  folder: string,
  jobId: string | null = null,
): BatonError | null {
  const known = store.session(sessionId)
  if (known === null)
    return new BatonError(
      `There is no session ${sessionId}.`,
      'Run baton status --all to see all sessions.',
      EXIT.notFound,
    )
  const refused = (why: string, hint: string): BatonError =>
    new BatonError(`Session ${sessionId} cannot be continued: ${why}.`, hint, EXIT.refused)
  if (known.agent !== agent)
    return refused(`it belongs to ${known.agent}, but the job uses ${agent}`, 'Omit --resume-session.')
  if (workspace.strategy !== 'none')
    return refused('the job works in its own worktree', 'Omit --worktree or --resume-session.')
  // The project of a session in a job's worktree is the folder where the job was asked for.
  const attempt = store.attemptOfSession(sessionId)
  const before = attempt === null ? null : store.job(attempt.jobId)
  const places = before ? [jobFolder(before)] : [known.project, known.cwd].filter((place) => place !== null)
  if (!places.some((place) => resolvePath(place) === resolvePath(folder)))
    return refused(
      `it worked in ${places[0] ?? 'an unknown folder'}, but the job works in ${folder}`,
      'Run the job in the folder of the session.',
    )
  const user = findSessionUser(store, sessionId, jobId)
  if (user !== null) return refused(user, 'Wait for its end or end it, then run the job again.')
  const lost = runtime === 'scripted' ? null : whyLost(known)
  return lost === null ? null : refused(lost, 'Run baton handoffs list to see whether it has a brief.')
}

/** Resolves symbolic links, as clients do. A path that does not exist is returned unchanged. */
function resolvePath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const carriedSpend = ({ spend, costUsd, carried }: AttemptRecord): NonNullable<AttemptRecord['carried']> => ({
  spend: carried ? addUsage(carried.spend, spend) : spend,
  costUsd: costUsd === null ? (carried?.costUsd ?? null) : (carried?.costUsd ?? 0) + costUsd,
})

/** Returns the measurements from which a session's next attempt continues. */
function continuedState({
  usedTokens,
  windowTokens,
  pointTokens,
  growth,
  crossed,
  workedMs,
}: AttemptRecord): Partial<AttemptRecord> {
  return {
    usedTokens,
    windowTokens,
    pointTokens,
    ...(growth ? { growth } : {}),
    ...(crossed ? { crossed } : {}),
    ...(workedMs === undefined ? {} : { workedMs }),
  }
}

/**
 * Stores the attempt (session of a job) and how it was chosen.
 * A continued session keeps its seat. The job adopts that seat, so that messages to it arrive.
 */
function storeFirstAttempt(
  deps: JobDependencies,
  { jobId, seatId }: JobRecord,
  attempt: AttemptRecord,
  chosen: { how: 'continued' | 'brief' | 'fresh'; reason: string; previous: string } | null,
): AttemptRecord {
  const { sessionId, start, briefId } = attempt
  const kept = start === 'resume' ? deps.store.session(sessionId)?.seatId : undefined
  deps.store.transaction(() => {
    deps.store.putAttempt(attempt)
    const data = chosen && {
      how: chosen.how,
      reason: chosen.reason,
      previous_session_id: chosen.previous,
      brief_id: briefId,
    }
    recordJob(deps, jobId, { sessionId, seatId: kept ?? seatId }, data ? [{ type: 'job_session', data }] : [])
  })
  return attempt
}
