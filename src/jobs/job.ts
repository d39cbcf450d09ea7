import type { ExitReason, JobRecord, JobState } from '../contract/records/job.js'
import { formatCount } from '../lib/format-count.js'
import type { Outcome } from './outcome.js'

/**
 * Decides what a job does after one of its sessions has ended. Pure: the runner stores and acts.
 *
 * | outcome | next |
 * |---|---|
 * | done | run the checks; all pass: completed. Else their output goes back to the same session, |
 * | | as often as the job allows, then failed. If every edit was denied: failed (`refused`) |
 * | full | hand off; without a handoff left, compact, or end the job (`max_handoffs`) |
 * | too-old | hand off, `session.max_duration` is reached; without a handoff left: failed |
 * | | (`timeout`), because compaction does not make a session younger |
 * | too-long | hand off with a brief from an earlier point of the session, or from the transcript |
 * | hook | failed: the user's hook would end the next paid turn too |
 * | turns, budget, timeout | failed with that reason; `jobs resume` continues with a new budget |
 * | stalled | end the client and resume the session once; the second time: failed |
 * | circles | failed as stalled: the agent was warned and repeated the same calls |
 * | limited | wait until the provider's reset time or a growing delay, then resume |
 * | trouble, died | resume after a growing delay; the fifth failure in a row: failed |
 * | refused | failed at once: a wrong key does not become valid by retrying |
 * | stopped | paused or cancelled as the user wanted; paused also if the runner had to exit |
 *
 * A returned batch of tools resets all counters. Stalls and limits are counted separately.
 * Error texts say first what happened and then what to do.
 */
export type JobAction =
  | { do: 'check' }
  | { do: 'hand-off' }
  | { do: 'resume'; after: number }
  | { do: 'wait'; until: string }
  | {
      do: 'end'
      state: Extract<JobState, 'completed' | 'failed' | 'cancelled' | 'paused'>
      reason: ExitReason | null
      detail: string
    }

export const MAX_FAILURES_IN_A_ROW = 5
const MOST_STALLS = 2
const PAUSES_MS = [1_000, 5_000, 20_000, 60_000]
/** Delays when the provider does not say how long a usage limit lasts. */
const LIMIT_MS = [30_000, 60_000, 120_000, 300_000, 600_000]
/** Extra time after the provider's reset time of a usage limit, because clocks differ. */
const LIMIT_MARGIN_MS = 2_000
/** Longest usage limit that is believed. No plan has a longer one. */
const LONGEST_LIMIT_MS = 8 * 24 * 3600_000

export function nextJobAction(job: JobRecord, outcome: Outcome, now: Date): JobAction {
  switch (outcome.how) {
    case 'done':
      return wereAllEditsDenied(job) ? failed('refused', deniedText(job)) : { do: 'check' }
    case 'full':
    case 'too-long':
      return handOffOrEnd(job, outcome)
    case 'too-old':
      return job.handoffs < job.spec.maxHandoffs ? { do: 'hand-off' } : failed('timeout', tooOldText(job))
    case 'hook':
      return failed('error', hookText(job, outcome.detail))
    case 'turns':
      return failed('max_turns', turnsText(job))
    case 'budget':
      return failed('max_budget', `${outcome.detail}; ${RESUME_WITH_MORE} --budget-usd or --budget-tokens`)
    case 'timeout':
      return failed('timeout', timeText(job))
    case 'stalled':
      return stalled(job, outcome.silentMs)
    case 'circles':
      return failed(
        'stalled',
        `it repeated the same call ${outcome.times} times with the same result (${outcome.call}); ` +
          `run baton jobs logs ${job.jobId} to find the cause`,
      )
    case 'limited':
      return { do: 'wait', until: limitEnd(job, outcome.until, now) }
    case 'refused':
      return failed('error', refusedText(outcome))
    case 'trouble':
    case 'died':
      return retryOrFail(job, outcome.detail)
    case 'stopped':
      // The user may have requested more meanwhile, such as a cancellation after a pause.
      return stopped(job.wanted ?? outcome.wanted, job.wantedBy ?? null)
  }
}

export const NO_FAILURES = { failures: 0, stalls: 0, waits: 0 }

/** Returns the job's changed counter: the one for this outcome, raised by one. */
export function countOutcome(
  { failures, stalls = 0, waits = 0 }: JobRecord,
  outcome: Outcome | undefined,
): Partial<JobRecord> {
  if (outcome?.how === 'limited') return { waits: waits + 1 }
  return outcome?.how === 'stalled' ? { stalls: stalls + 1 } : { failures: failures + 1 }
}

const wereAllEditsDenied = ({ edits }: JobRecord): boolean =>
  edits !== undefined && edits.made === 0 && edits.denied > 0

function deniedText({ edits, spec }: JobRecord): string {
  const count = edits?.denied === 1 ? 'its only edit was' : `all its ${edits?.denied} edits were`
  const mode =
    spec.permissionMode === null ? 'the permission mode of the client' : `permission mode ${spec.permissionMode}`
  const options = ALLOWING_EDITS.has(spec.permissionMode ?? '')
    ? 'bypassPermissions (everything)'
    : 'acceptEdits (edits) or bypassPermissions (everything)'
  return `${count} denied by ${mode}, so nothing was changed; resume it with --permission-mode ${options}`
}

/**
 * Permission modes that allow edits, but may deny some, such as those outside of the job's folder.
 */
export const ALLOWING_EDITS: ReadonlySet<string> = new Set(['acceptEdits', 'auto'])

function stopped(wanted: NonNullable<JobRecord['wanted']>, level: string | null): JobAction {
  if (wanted === 'cancel')
    return { do: 'end', state: 'cancelled', reason: 'cancelled', detail: 'the user cancelled it' }
  const who =
    level === null
      ? 'the user paused it'
      : `it reached the level \`${level}\`, which pauses the job; when you resume it, the level no longer applies`
  const detail = wanted === 'pause' ? who : 'its process received SIGTERM or SIGHUP'
  return { do: 'end', state: 'paused', reason: null, detail }
}

function handOffOrEnd(job: JobRecord, outcome: Outcome): JobAction {
  if (job.handoffs < job.spec.maxHandoffs) return { do: 'hand-off' }
  if (outcome.how === 'full' && job.spec.afterMaxHandoffs === 'compact') return { do: 'resume', after: 0 }
  const why = outcome.how === 'too-long' ? ` (${outcome.detail})` : ''
  return failed(
    'max_handoffs',
    `its context is full and all ${job.spec.maxHandoffs} handoffs are used${why}; ${RESUME_WITH_MORE} --max-handoffs`,
  )
}

function stalled(job: JobRecord, silentMs: number): JobAction {
  if ((job.stalls ?? 0) + 1 >= MOST_STALLS)
    return failed(
      'stalled',
      `the client was silent for ${lengthText(silentMs)}, even after a restart; ` +
        'check that the provider answers, then resume the job',
    )
  return { do: 'resume', after: 0 }
}

function retryOrFail(job: JobRecord, detail: string): JobAction {
  if (job.failures + 1 >= MAX_FAILURES_IN_A_ROW)
    return failed('error', `${detail} (after ${MAX_FAILURES_IN_A_ROW} attempts); fix the cause, then resume the job`)
  return { do: 'resume', after: PAUSES_MS[Math.min(job.failures, PAUSES_MS.length - 1)]! }
}

function limitEnd(job: JobRecord, until: string | null, now: Date): string {
  const named = until === null ? Number.NaN : Date.parse(until) + LIMIT_MARGIN_MS
  const pause = LIMIT_MS[Math.min(job.waits ?? 0, LIMIT_MS.length - 1)]!
  const known = Number.isFinite(named) && named > now.getTime() && named - now.getTime() < LONGEST_LIMIT_MS
  return new Date(known ? named : now.getTime() + pause).toISOString()
}

function failed(reason: ExitReason, detail: string): JobAction {
  return { do: 'end', state: 'failed', reason, detail }
}

const RESUME_WITH_MORE = 'to continue, resume it with a higher'

function hookText({ jobId }: JobRecord, detail: string): string {
  const said = detail === '' ? '' : ` (${detail})`
  return (
    `one of your hooks stopped it with "continue": false${said}; ` +
    `run baton jobs logs ${jobId} to find the cause, then resume it`
  )
}

function turnsText({ spec }: JobRecord): string {
  const { turns } = spec.budgets
  const many = turns === null ? '' : `${turns.toLocaleString('en-US')} `
  return `it used all of its ${many}turns; ${RESUME_WITH_MORE} --budget-turns`
}

function tooOldText({ spec }: JobRecord): string {
  return (
    `its session reached session.max_duration (${lengthText(spec.session?.maxMs ?? 0)}), ` +
    `and all ${spec.maxHandoffs} handoffs are used; ${RESUME_WITH_MORE} --max-handoffs`
  )
}

function timeText({ spec }: JobRecord): string {
  const { minutes } = spec.budgets
  const limit = minutes === null ? '' : ` of ${formatCount(minutes, 'minute')}`
  return `its time limit${limit} is over; ${RESUME_WITH_MORE} --budget-minutes`
}

function refusedText({ status, detail }: { status: number | null; detail: string }): string {
  const what = status === null ? detail : `${detail} (status ${status})`
  if (status === 401 || status === 403)
    return (
      `the provider rejected the key or login: ${what}; ` +
      'run the client and type /login, or set ANTHROPIC_API_KEY, then resume it'
    )
  return `the provider rejected the request: ${what}; a retry cannot help: fix the cause, then resume it`
}

function lengthText(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 360_000) / 10} h`
}

/** True for states that are final unless the user resumes the job. */
export function isJobOver(state: JobState): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

/** Returns why `jobs resume` cannot continue a job. Null when it can. */
export function whyNotResumed({ state, exitReason }: Pick<JobRecord, 'state' | 'exitReason'>): string | null {
  if (state === 'completed') return 'it is done'
  if (state === 'cancelled' && exitReason === 'cancelled') return 'it was cancelled'
  return null
}
