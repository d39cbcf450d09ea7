import type { JobRecord, JobSpec } from '../contract/records/job.js'
import type { Store } from '../store/store.js'

interface JobRequest {
  spec: JobSpec
  /** The seat of whoever asked for it; null: a person. */
  parentSeatId: string | null
  /** Whoever is about to run it; null: nobody yet. */
  runner: JobRecord['runner']
}

/** A job is a seat of its own, which all its sessions sit in one after the other; it bears the job's name. It has not begun. */
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
