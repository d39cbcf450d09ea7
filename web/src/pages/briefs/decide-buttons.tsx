import { type ReactNode, useState } from 'react'
import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import { call, problemFrom } from '../../api.js'
import { Link } from '../../navigation.js'
import { Confirm } from '../../parts/dialog.js'
import { Problem, type ProblemShown } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { briefHref } from '../../route.js'
import { isInReview, isOpen } from './brief-facts.js'

/** Approve and cancel. `look`: with a way to its text first. */
export function DecideButtons({
  brief,
  done,
  look = false,
  children,
}: {
  brief: BriefRow
  done: () => void
  look?: boolean
  children?: ReactNode
}) {
  const [busy, setBusy] = useState(false)
  const [asking, setAsking] = useState(false)
  const [trouble, setTrouble] = useState<ProblemShown | null>(null)
  const act = async (what: 'approveBrief' | 'cancelBrief', says: string): Promise<void> => {
    setBusy(true)
    setTrouble(null)
    try {
      await call(what, { id: brief.brief_id })
      toast(says)
    } catch (error) {
      setTrouble(problemFrom(error))
    } finally {
      setBusy(false)
      setAsking(false)
      done()
    }
  }
  return (
    <div className="decide">
      <div className="row">
        {children}
        {isOpen(brief) && (
          <button type="button" className="button" disabled={busy} onClick={() => setAsking(true)}>
            Cancel…
          </button>
        )}
        {isInReview(brief) && (
          <button
            type="button"
            className={look ? 'button' : 'button primary'}
            disabled={busy}
            onClick={() => void act('approveBrief', 'Approved: the handoff goes on')}
          >
            Approve
          </button>
        )}
        {look && (
          <Link href={briefHref(brief.brief_id)} className="button primary">
            Read it
          </Link>
        )}
      </div>
      {trouble !== null && <Problem problem={trouble} />}
      <Confirm
        open={asking}
        title="Keep this brief from being used?"
        yes="Cancel the brief"
        busy={busy}
        grave
        onYes={() => void act('cancelBrief', 'Cancelled: the session goes on as it is')}
        onClose={() => setAsking(false)}
      >
        <p>The handoff that waits for it is cancelled, and its session goes on as it is. The text stays in its file.</p>
      </Confirm>
    </div>
  )
}
