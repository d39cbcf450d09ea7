import type { ReactNode } from 'react'
import type { JobShown } from '../../../../src/contract/api/jobs.js'
import { relativeText } from '../../format.js'
import { useClock } from '../../parts/clock.js'
import { EXIT_TELLS, isLost, isOver } from './job-facts.js'

/** Why it waits, rests or ended otherwise than well, and what can be done about it. Nothing while all goes well. */
export function WhyNote({ job }: { job: JobShown }) {
  const lost = useClock((now) => isLost(job, now))
  const until = useClock((now) => (job.wait_until === null ? '' : relativeText(job.wait_until, now)))
  const { status, detail, runner } = job
  if (lost)
    return (
      <Note grave>
        <p>
          <strong>Nobody runs this job any more.</strong>{' '}
          {runner === null ? 'No process has taken it.' : `Process ${runner.pid} ran it and is gone.`}
        </p>
        <p>Resume goes on from the session it was in; nothing it did is lost.</p>
      </Note>
    )
  if (status === 'failed' || status === 'cancelled')
    return (
      <Note grave={status === 'failed'}>
        <p>
          <strong>{status === 'failed' ? `It failed: ${EXIT_TELLS[job.exit_reason ?? 'error']}.` : 'It was cancelled.'}</strong>{' '}
          {detail}
        </p>
      </Note>
    )
  if (isOver(job)) return null
  if (status === 'waiting' || status === 'paused' || status === 'pending')
    return (
      <Note>
        <p>
          <strong>{SAYS[status]}</strong> {detail}
          {until !== '' && ` It goes on ${until}.`}
        </p>
      </Note>
    )
  return detail === null ? null : (
    <Note>
      <p>{detail}</p>
    </Note>
  )
}

const SAYS = {
  waiting: 'It waits.',
  paused: 'It rests until somebody resumes it.',
  pending: 'It waits for its turn.',
} as const

function Note({ grave = false, children }: { grave?: boolean; children: ReactNode }) {
  return (
    <div className="why" data-grave={grave || undefined} role="status">
      {children}
    </div>
  )
}
