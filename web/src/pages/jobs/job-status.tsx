import { type ReactNode, useState } from 'react'
import type { JobShown } from '../../../../src/contract/api/jobs.js'
import { call } from '../../api/call-api.js'
import { useAct } from '../../api/use-act.js'
import { useClock } from '../../parts/clock.js'
import { Confirm } from '../../parts/dialog.js'
import { relativeText, sentence } from '../../parts/format.js'
import { Problem } from '../../parts/page-states.js'
import { StateBadge } from '../../parts/state-badge.js'
import { toast } from '../../parts/toast.js'
import { EXIT_TELLS, isLost, isOver, mayCancel, mayPause, mayResume, STATUS_TELLS } from './job-facts.js'

/** Status of a job, why it ended, and whether its runner died. */
export function JobStatus({ job }: { job: JobShown }) {
  const lost = useClock((now) => isLost(job, now))
  const { status, exit_reason: reason, runner } = job
  return (
    <span className="job-status">
      <StateBadge state={status} tells={STATUS_TELLS[status]} />
      {status === 'failed' && reason !== null && reason !== 'error' && (
        <span className="quiet">{EXIT_TELLS[reason]}</span>
      )}
      {lost && (
        <span
          className="job-lost"
          title={runner === null ? 'No process runs it' : `Process ${runner.pid} ran it and is gone`}
        >
          its process died
        </span>
      )}
    </span>
  )
}

/** Says why a job waits, rests or failed, and what to do. Empty while the job runs normally. */
export function StatusNote({ job }: { job: JobShown }) {
  const lost = useClock((now) => isLost(job, now))
  const until = useClock((now) => (job.wait_until === null ? '' : relativeText(job.wait_until, now)))
  const retry = useClock((now) => retryText(job, now))
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
          <strong>{status === 'cancelled' ? 'It was cancelled.' : failedText(job)}</strong>{' '}
          {detail !== null && sentence(detail)}
        </p>
      </Note>
    )
  if (isOver(job)) return null
  if (status === 'waiting' || status === 'paused' || status === 'pending')
    return (
      <Note>
        <p>
          <strong>{WAIT_TEXT[status]}</strong> {detail !== null && sentence(detail)}
          {until !== '' && ` It goes on ${until}.`}
        </p>
      </Note>
    )
  if (retry !== '')
    return (
      <Note>
        <p>
          <strong>It is tried again.</strong> {retry}
        </p>
      </Note>
    )
  return detail === null ? null : (
    <Note>
      <p>{sentence(detail)}</p>
    </Note>
  )
}

/** Says why a job failed: `It failed: its time was up.` The detail of an error says more. */
function failedText({ exit_reason: reason, detail }: JobShown): string {
  if (reason === null || (reason === 'error' && detail !== null)) return 'It failed.'
  return `It failed: ${EXIT_TELLS[reason]}.`
}

/** The failure and when the next attempt follows. Empty when no retry is planned. */
function retryText({ retry }: JobShown, now: number): string {
  if (retry === null) return ''
  const number = `attempt ${retry.attempt}${retry.max_attempts === null ? '' : ` of ${retry.max_attempts}`}`
  const left = Math.ceil((Date.parse(retry.at) - now) / 1000)
  return `${retry.reason}; ${number} ${left > 0 ? `in ${left} s` : 'now'}.`
}

const WAIT_TEXT = {
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

/** Buttons to pause, resume and cancel a job. Cancel asks first. Calls `done` after each action. */
export function JobActions({ job, done }: { job: JobShown; done: () => void }) {
  const resumable = useClock((now) => mayResume(job, now))
  const pausable = useClock((now) => mayPause(job, now))
  const [asking, setAsking] = useState(false)
  const { busy, trouble, act } = useAct()
  const runAction = (route: 'cancelJob' | 'pauseJob' | 'resumeJob', confirmation: string): void =>
    act(async () => {
      try {
        await call(route, { id: job.job_id })
        toast(confirmation)
      } finally {
        setAsking(false)
        done()
      }
    })
  return (
    <div className="job-actions">
      <div className="row">
        {resumable && (
          <button
            type="button"
            className="button primary"
            disabled={busy}
            onClick={() => runAction('resumeJob', 'The job goes on')}
          >
            Resume
          </button>
        )}
        {pausable && (
          <button
            type="button"
            className="button"
            disabled={busy}
            onClick={() => runAction('pauseJob', 'The job is paused')}
          >
            {busy && !asking ? 'Pausing…' : 'Pause'}
          </button>
        )}
        {mayCancel(job) && (
          <button type="button" className="button" disabled={busy} onClick={() => setAsking(true)}>
            Cancel…
          </button>
        )}
      </div>
      {trouble !== null && <Problem problem={trouble} />}
      <Confirm
        open={asking}
        title="End this job?"
        yes={busy ? 'Ending it' : 'End the job'}
        busy={busy}
        grave
        onYes={() => runAction('cancelJob', 'The job is cancelled')}
        onClose={() => setAsking(false)}
      >
        <p>Its agent and everything it started are ended now. A cancelled job cannot be resumed.</p>
        <p>
          What it changed stays where it is{job.worktree_path === null ? '' : ', in its worktree, unless that is clean'}
          .
        </p>
      </Confirm>
    </div>
  )
}
