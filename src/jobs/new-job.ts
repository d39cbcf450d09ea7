import type { JobRecord, JobSpec } from '../contract/records/job.js'
import type { Store } from '../store/store.js'

interface JobRequest {
  spec: JobSpec
  /** Seat (terminal) of the agent that requested the job. Null when the user did. */
  parentSeatId: string | null
  /** Process that is about to run the job. Null when there is none yet. */
  runner: JobRecord['runner']
}

/** Creates a pending job with a seat of its own for all its sessions, named after the job. */
export function newJob(
  store: Store,
  { spec, parentSeatId, runner }: JobRequest,
  at: string,
  newId: () => string,
): JobRecord {
  const jobId = `job_${newId()}`
  const seatId = `seat_${newId()}`
  const job: JobRecord = {
    jobId,
    seatId,
    parentSeatId,
    spec,
    state: 'pending',
    stateAt: at,
    exitReason: null,
    detail: '',
    wanted: null,
    runner,
    workspace: null,
    sessionId: null,
    handoffs: 0,
    compactions: 0,
    failures: 0,
    checkRound: 0,
    checks: [],
    waitUntil: null,
    createdAt: at,
    startedAt: null,
    endedAt: null,
    ranMs: 0,
    result: null,
  }
  store.transaction(() => {
    store.putSeat({ seatId, name: jobId, parentSeatId, process: null, createdAt: at })
    store.putJob(job)
  })
  return job
}
