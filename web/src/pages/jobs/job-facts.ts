import type { JobDetail, JobView } from '../../../../src/contract/api/jobs.js'
import { containsWords } from '../../parts/contains-words.js'
import { shortId } from '../../parts/format.js'

/** Pure functions that derive from a job's row what the page shows. */

export type JobCheck = JobView['checks'][number]

const OVER: ReadonlySet<JobView['status']> = new Set(['completed', 'failed', 'cancelled'])
/** Time a background runner has to claim a new job before the job counts as lost. */
const START_GRACE_MS = 10_000

export const isJobOver = ({ status }: Pick<JobView, 'status'>): boolean => OVER.has(status)

/** True while a live runner works on the job and does not wait. */
export const isWorking = ({ status, runner }: Pick<JobView, 'status' | 'runner'>): boolean =>
  (status === 'running' || status === 'handing-off') && runner !== null && runner.alive

/** True for an open job without a live runner: it was killed, or the machine went down. */
export function isLost(
  { status, runner, created_at }: Pick<JobView, 'status' | 'runner' | 'created_at'>,
  now: number,
): boolean {
  if (OVER.has(status) || status === 'paused') return false
  if (status === 'pending' && runner === null) return now - Date.parse(created_at) > START_GRACE_MS
  return runner === null || !runner.alive
}

export const mayCancel = (job: JobView): boolean => !isJobOver(job)
export const mayPause = (job: JobView, now: number): boolean =>
  !isJobOver(job) && job.status !== 'paused' && !isLost(job, now)
export const mayResume = (job: JobView, now: number): boolean =>
  job.status === 'paused' || job.status === 'failed' || isLost(job, now)

export const STATUS_HELP: Readonly<Record<JobView['status'], string>> = {
  pending: 'It waits for its turn: the maximum number of jobs is running',
  running: 'One of its sessions is working, or its checks are running',
  'handing-off': 'Its session is full: the agent writes a brief, Baton checks it, then a fresh session starts',
  waiting: 'It waits until a usage limit resets, or until you review a brief',
  paused: 'It is stopped and can be resumed',
  completed: 'The agent said it is done, and every check passed',
  failed: 'It ended before it was done',
  cancelled: 'The user cancelled it',
}

export const EXIT_TEXT: Readonly<Record<NonNullable<JobView['exit_reason']>, string>> = {
  success: 'done',
  error: 'an error',
  timeout: 'time limit reached',
  cancelled: 'cancelled',
  max_turns: 'step limit reached',
  max_budget: 'budget used up',
  max_handoffs: 'handoff limit reached',
  stalled: 'no more progress',
  refused: 'every edit was denied',
}

/** The job's task in one line. Null when it has neither work item, prompt nor agent. */
export function taskOf({ work_item, prompt, agent }: Pick<JobView, 'work_item' | 'prompt' | 'agent'>): string | null {
  const first = prompt.split('\n').find((line) => line.trim() !== '')
  return work_item ?? first?.trim() ?? agent
}

export const jobTitle = (job: JobView): string => taskOf(job) ?? shortId(job.job_id)

export function jobMatches(job: JobView, words: string): boolean {
  const all = [job.job_id, job.status, job.agent, job.work_item, job.prompt, job.branch_name, job.folder]
    .join('\n')
    .toLowerCase()
  return containsWords(all, words)
}

export interface CheckRound {
  round: number
  checks: JobCheck[]
  failed: number
}

/** Groups checks into rounds, newest first, because the current result matters most. */
export function roundsOf(checks: readonly JobCheck[]): CheckRound[] {
  const rounds = new Map<number, JobCheck[]>()
  for (const check of checks) rounds.set(check.round, [...(rounds.get(check.round) ?? []), check])
  return [...rounds]
    .sort(([a], [b]) => b - a)
    .map(([round, all]) => ({ round, checks: all, failed: all.filter(({ ok }) => !ok).length }))
}

export interface Budget {
  id: 'usd' | 'tokens' | 'turns' | 'minutes' | 'handoffs'
  used: number | null
  /** Null when there is no limit. */
  allowed: number | null
}

/** Used and allowed amounts of a job. Minutes of the current session count when it ends. */
export function budgetsOf(job: JobDetail | JobView): Budget[] {
  const allowed =
    'budgets' in job ? (job as JobDetail).budgets : { usd: null, tokens: null, turns: null, minutes: null }
  return [
    { id: 'usd', used: job.spend.cost_usd, allowed: allowed.usd },
    { id: 'tokens', used: spentTokens(job), allowed: allowed.tokens },
    { id: 'turns', used: job.steps, allowed: allowed.turns },
    { id: 'minutes', used: job.ran_ms / 60_000, allowed: allowed.minutes },
    { id: 'handoffs', used: job.handoffs, allowed: job.max_handoffs },
  ]
}

export function spentTokens({ spend }: Pick<JobView, 'spend'>): number {
  const cache = spend as Partial<Record<'cache_creation_tokens' | 'cache_read_tokens', number>>
  return spend.input_tokens + spend.output_tokens + (cache.cache_creation_tokens ?? 0) + (cache.cache_read_tokens ?? 0)
}

/** Sorts jobs: open ones first, then by newest creation. */
export function sortJobs(jobs: Iterable<JobView>): JobView[] {
  return [...jobs].sort(
    (a, b) => Number(isJobOver(a)) - Number(isJobOver(b)) || b.created_at.localeCompare(a.created_at),
  )
}
