import type { JobShown } from '../../../../src/contract/api/jobs.js'
import { useClock } from '../../parts/clock.js'
import { StateBadge } from '../../parts/state-badge.js'
import { EXIT_TELLS, isLost, STATUS_TELLS } from './job-facts.js'

/** Its state, why it ended, and whether whoever ran it is gone. */
export function JobStatus({ job }: { job: JobShown }) {
  const lost = useClock((now) => isLost(job, now))
  const { status, exit_reason: reason, runner } = job
  return (
    <span className="job-status">
      <StateBadge state={status} tells={STATUS_TELLS[status]} />
      {status === 'failed' && reason !== null && <span className="quiet">{EXIT_TELLS[reason]}</span>}
      {lost && (
        <span className="job-lost" title={runner === null ? 'No process runs it' : `Process ${runner.pid} ran it and is gone`}>
          lost its runner
        </span>
      )}
    </span>
  )
}
