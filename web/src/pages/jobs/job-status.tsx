import { type ReactNode, useState } from 'react'
import type { JobView } from '../../../../src/contract/api/jobs.js'
import { callApi } from '../../api/call-api.js'
import { useAction } from '../../api/use-act.js'
import { useClock } from '../../parts/clock.js'
import { ConfirmDialog } from '../../parts/dialog.js'
import { relativeText, toSentence } from '../../parts/format.js'
import { Problem } from '../../parts/page-states.js'
import { StateBadge } from '../../parts/state-badge.js'
import { showToast } from '../../parts/toast.js'
import { EXIT_TEXT, isJobOver, isLost, mayCancel, mayPause, mayResume, STATUS_HELP } from './job-facts.js'

/** Status of a job and why it ended. A job without its process is shown as such. */
export function JobStatus({ job }: { job: JobView }) {
  const lost = useClock((now) => isLost(job, now))
  const { status, exit_reason: reason, runner } = job
  return (
    <span className="job-status">
      {lost ? (
        <StateBadge
          state="failed"
          word="its process died"
          help={runner === null ? 'No process runs this job' : `Process ${runner.pid} is gone`}
        />
      ) : (
        <StateBadge state={status} help={STATUS_HELP[status]} />
      )}
      {status === 'failed' && reason !== null && reason !== 'error' && (
        <span className="quiet">{EXIT_TEXT[reason]}</span>
      )}
    </span>
  )
}

/** Says why a job waits, is paused or failed, and what to do. Empty while the job runs. */
export function StatusNote({ job }: { job: JobView }) {
  const lost = useClock((now) => isLost(job, now))
  const until = useClock((now) => (job.wait_until === null ? '' : relativeText(job.wait_until, now)))
  const retry = useClock((now) => retryText(job, now))
  const { status, detail, runner } = job
  if (lost)
    return (
      <Note about="lost" danger>
        <p>
          <strong>The job’s process died.</strong>{' '}
          {runner === null ? 'No process has started the job.' : `Process ${runner.pid} is gone.`}
        </p>
        <p>Resume continues the job in its last session. Its work so far is kept.</p>
      </Note>
    )
  if (status === 'failed' || status === 'cancelled')
    return (
      <Note about={status} danger={status === 'failed'}>
        <p>
          <strong>{status === 'cancelled' ? 'Cancelled.' : failedText(job)}</strong>{' '}
          {detail !== null && toSentence(detail)}
        </p>
      </Note>
    )
  if (isJobOver(job)) return null
  if (status === 'waiting' || status === 'paused' || status === 'pending')
    return (
      <Note about={status}>
        <p>
          <strong>{WAIT_TEXT[status]}</strong> {detail !== null && toSentence(detail)}
          {until !== '' && ` It continues ${until}.`}
        </p>
      </Note>
    )
  if (retry !== '')
    return (
      <Note about="retry">
        <p>
          <strong>Retrying.</strong> {retry}
        </p>
      </Note>
    )
  return detail === null ? null : (
    <Note about={status}>
      <p>{toSentence(detail)}</p>
    </Note>
  )
}

/** Says why a job failed: `Failed: time limit reached.` The detail of an error says more. */
function failedText({ exit_reason: reason, detail }: JobView): string {
  if (reason === null || (reason === 'error' && detail !== null)) return 'Failed.'
  return `Failed: ${EXIT_TEXT[reason]}.`
}

/** The failure and when the next attempt follows. Empty when no retry is planned. */
function retryText({ retry }: JobView, now: number): string {
  if (retry === null) return ''
  const number = `attempt ${retry.attempt}${retry.max_attempts === null ? '' : ` of ${retry.max_attempts}`}`
  const left = Math.ceil((Date.parse(retry.at) - now) / 1000)
  return `${retry.reason}; ${number} ${left > 0 ? `in ${left} s` : 'now'}.`
}

const WAIT_TEXT = {
  waiting: 'Waiting.',
  paused: 'Paused until you resume it.',
  pending: 'Waiting for its turn.',
} as const

function Note({ about, danger = false, children }: { about: string; danger?: boolean; children: ReactNode }) {
  return (
    <div className="status-note" data-about={about} data-danger={danger || undefined} role="status">
      {children}
    </div>
  )
}

/** Buttons to pause, resume and cancel a job. Cancel asks first. Calls `done` after each action. */
export function JobActions({ job, done }: { job: JobView; done: () => void }) {
  const resumable = useClock((now) => mayResume(job, now))
  const pausable = useClock((now) => mayPause(job, now))
  const [asking, setAsking] = useState(false)
  const { busy, trouble, act } = useAction()
  const runAction = (route: 'cancelJob' | 'pauseJob' | 'resumeJob', confirmation: string): void =>
    act(async () => {
      try {
        await callApi(route, { id: job.job_id })
        showToast(confirmation)
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
            data-act="resume"
            disabled={busy}
            onClick={() => runAction('resumeJob', 'The job continues')}
          >
            Resume
          </button>
        )}
        {pausable && (
          <button
            type="button"
            className="button"
            data-act="pause"
            disabled={busy}
            onClick={() => runAction('pauseJob', 'The job is paused')}
          >
            {busy && !asking ? 'Pausing…' : 'Pause'}
          </button>
        )}
        {mayCancel(job) && (
          <button type="button" className="button" data-act="cancel" disabled={busy} onClick={() => setAsking(true)}>
            Cancel the job…
          </button>
        )}
      </div>
      {trouble !== null && <Problem problem={trouble} />}
      <ConfirmDialog
        open={asking}
        title="Cancel this job?"
        yes={busy ? 'Cancelling…' : 'Cancel the job'}
        no="Keep the job"
        busy={busy}
        danger
        onYes={() => runAction('cancelJob', 'The job is cancelled')}
        onClose={() => setAsking(false)}
      >
        <p>Its agent and every process it started end at once. A cancelled job cannot be resumed.</p>
        <p>
          {job.worktree_path === null
            ? 'Files that it changed stay as they are.'
            : 'Files that it changed stay in its worktree. A worktree without changes is removed.'}
        </p>
      </ConfirmDialog>
    </div>
  )
}
