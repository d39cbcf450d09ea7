import type { Signal } from '../contract/signal.js'
import type { Parts } from './draft.js'

/**
 * A signal from a place that belongs to a job. A job's own sessions are told of by whoever runs it (`byRunner`), because hooks need not be
 * installed; where they are, the same events arrive a second time, and only the runner's count: then null. Once the runner was killed,
 * nobody else tells. A client that a tool of the job started has another session: it is measured like any other, in a seat of its own
 * below the job's.
 */
export function ofJob({ store, agents }: Pick<Parts, 'store' | 'agents'>, signal: Signal, byRunner: boolean): Signal | null {
  if (signal.jobId === null || byRunner) return signal
  const job = store.job(signal.jobId)
  // Another program's.
  if (job === null) return signal
  if (store.attemptOf(signal.sessionId) === null) {
    const inherited = signal.seat === job.seatId
    return { ...signal, jobId: null, ...(inherited ? { seat: null, parentSeat: job.seatId } : {}) }
  }
  const isRunning = job.runner === null || agents[signal.agent]?.alive(job.runner) !== false
  return isRunning ? null : signal
}
