import { type ReactNode, useState } from 'react'
import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import { call } from '../../api.js'
import { Link } from '../../navigation.js'
import { Confirm } from '../../parts/dialog.js'
import { Problem } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { briefHref } from '../../route.js'
import { useAct } from '../../use-act.js'
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
  const { busy, trouble, act } = useAct()
  const [asking, setAsking] = useState(false)
  const decide = (what: 'approveBrief' | 'cancelBrief', says: string): void =>
    act(async () => {
      try {
        await call(what, { id: brief.brief_id })
        toast(says)
      } finally {
        setAsking(false)
        done()
      }
    })
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
            onClick={() => decide('approveBrief', 'Approved: the handoff goes on')}
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
        onYes={() => decide('cancelBrief', 'Cancelled: the session goes on as it is')}
        onClose={() => setAsking(false)}
      >
        <p>The handoff that waits for it is cancelled, and its session goes on as it is. The text stays in its file.</p>
      </Confirm>
    </div>
  )
}
