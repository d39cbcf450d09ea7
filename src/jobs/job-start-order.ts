import type { JobRecord } from '../contract/records/job.js'

export interface JobLimits {
  /** Number of jobs that may run on this machine at the same time. */
  jobs: number
  /** Number of jobs of one agent that may run at the same time. Null without such a limit. */
  perAgent: number | null
}

const NOT_RUNNING = new Set<JobRecord['state']>(['pending', 'paused', 'completed', 'failed', 'cancelled'])

/** Tells whether a job's runner is alive. A job that waits for a usage limit counts as running. */
type Alive = (runner: NonNullable<JobRecord['runner']>) => boolean

/**
 * True when a pending job may start: the oldest first, across all processes.
 * A job whose agent has reached its own limit does not block jobs of other agents.
 * Jobs without a live runner do not count.
 */
export function mayStart(
  open: readonly JobRecord[],
  jobId: string,
  { jobs, perAgent }: JobLimits,
  isAlive: Alive,
): boolean {
  const there = open.filter(({ runner, jobId: id }) => id === jobId || (runner !== null && isAlive(runner)))
  // Jobs that started this one wait for it. Counting them would block this job forever.
  const above = ancestorsOf(there, jobId)
  const running = there.filter(({ state, jobId: id }) => !NOT_RUNNING.has(state) && id !== jobId && !above.has(id))
  const ofAgent = new Map<string, number>()
  let all = 0
  const add = ({ spec }: JobRecord): void => {
    all++
    if (spec.agentName !== null) ofAgent.set(spec.agentName, (ofAgent.get(spec.agentName) ?? 0) + 1)
  }
  for (const job of running) add(job)
  const inLine = there.filter(({ state, jobId: id }) => state === 'pending' || id === jobId)
  for (const job of inLine.toSorted(byAge)) {
    const enough =
      perAgent !== null && job.spec.agentName !== null && (ofAgent.get(job.spec.agentName) ?? 0) >= perAgent
    if (all >= jobs) return false
    if (enough && job.jobId === jobId) return false
    if (enough) continue
    if (job.jobId === jobId) return true
    add(job)
  }
  return false
}

function ancestorsOf(open: readonly JobRecord[], jobId: string): Set<string> {
  const found = new Set<string>()
  let at = open.find((job) => job.jobId === jobId)
  while (at !== undefined && !found.has(at.jobId)) {
    found.add(at.jobId)
    const { parentSeatId } = at
    at = parentSeatId === null ? undefined : open.find(({ seatId }) => seatId === parentSeatId)
  }
  return found
}

function byAge(one: JobRecord, other: JobRecord): number {
  return one.createdAt === other.createdAt
    ? one.jobId < other.jobId
      ? -1
      : 1
    : one.createdAt < other.createdAt
      ? -1
      : 1
}
