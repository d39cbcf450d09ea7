import { useState } from 'react'
import type { JobShown } from '../../../../src/contract/api/jobs.js'
import { call } from '../../api.js'
import { useLive } from '../../live/use-live.js'
import { useClock } from '../../parts/clock.js'
import { Confirm } from '../../parts/dialog.js'
import { Problem } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { useAct } from '../../use-act.js'
import { mayCancel, mayResume } from './job-facts.js'

/** Cancel, asked twice, and resume. `done`: something was done. */
export function JobActions({ job, done }: { job: JobShown; done: () => void }) {
  const words = useLive((live) => live.words)
  const resumable = useClock((now) => mayResume(job, now))
  const [asking, setAsking] = useState(false)
  const { busy, trouble, act } = useAct()
  if (!words) return null
  const order = (what: 'cancelJob' | 'resumeJob', says: string): void =>
    act(async () => {
      try {
        await call(what, { id: job.job_id })
        toast(says)
      } finally {
        setAsking(false)
        done()
      }
    })
  return (
    <div className="job-actions">
      <div className="row">
        {resumable && (
          <button type="button" className="button primary" disabled={busy} onClick={() => order('resumeJob', 'The job goes on')}>
            Resume
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
        onYes={() => order('cancelJob', 'The job is cancelled')}
        onClose={() => setAsking(false)}
      >
        <p>Its agent and everything it started are ended now. A cancelled job cannot be resumed.</p>
        <p>What it changed stays where it is{job.worktree_path === null ? '' : ', in its worktree, unless that is clean'}.</p>
      </Confirm>
    </div>
  )
}
