import type { JobRecord } from '../contract/records/job.js'

export interface JobLimits {
  /** As many may run at once on this machine. */
  jobs: number
  /** As many of one agent; null: no bound of its own. */
  perAgent: number | null
}

const RESTS = new Set<JobRecord['state']>(['pending', 'paused', 'completed', 'failed', 'cancelled'])

/** Those whose runner is alive; `isAlive` tells. Waiting for a limit of the plan is running too: it goes on by itself. */
type Alive = (runner: NonNullable<JobRecord['runner']>) => boolean

/**
 * Whether a job that is `pending` may begin: the oldest first, also across processes, and one whose agent has enough running already does not
 * hold up those of others. Jobs that nobody runs count for nothing.
 */
export function isItsTurn(
  open: readonly JobRecord[],
  jobId: string,
  { jobs, perAgent }: JobLimits,
  isAlive: Alive,
): boolean {
  const there = open.filter(({ runner, jobId: id }) => id === jobId || (runner !== null && isAlive(runner)))
  // Whoever began this one from within waits for it, and would hold its own place against it for ever.
  const above = ancestorsOf(there, jobId)
  const running = there.filter(({ state, jobId: id }) => !RESTS.has(state) && id !== jobId && !above.has(id))
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
