import { useState } from 'react'
import type { HandoffShown, SessionDetail } from '../../../../src/contract/api/sessions.js'
import { call } from '../../api.js'
import { waitsFor } from '../../handoff-waits.js'
import { useLive } from '../../live/use-live.js'
import { Link } from '../../navigation.js'
import { Confirm } from '../../parts/dialog.js'
import { Problem } from '../../parts/faces.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { toast } from '../../parts/toast.js'
import { briefHref } from '../../route.js'
import { useAct } from '../../use-act.js'

const TELLS: Readonly<Record<HandoffShown['state'], string>> = {
  requested: 'The agent is asked for a brief.',
  written: 'The brief is written and will be checked.',
  checked: 'The brief is checked.',
  review: 'The brief waits for a review.',
  waiting: 'Everything is ready. It waits for the end of the turn.',
  clearing: 'A fresh session is being begun.',
  confirmed: 'A fresh session has begun.',
  started: 'The fresh session has the brief.',
  done: 'Handed over.',
  failed: 'It failed.',
  cancelled: 'It was called off.',
}

/** The handoff that is under way, where it stands, and the way to call it off. */
export function HandoffStrip({ session, handoff, again }: { session: SessionDetail; handoff: HandoffShown; again: () => void }) {
  const words = useLive((live) => live.words)
  const waits = waitsFor(handoff)
  const [asking, setAsking] = useState(false)
  const { busy, trouble, act, reset } = useAct()
  const cancel = (): void =>
    act(async () => {
      await call('cancelHandoff', { id: session.session_id })
      toast('The handoff is called off')
      setAsking(false)
      again()
    })
  return (
    <div className="strip">
      <p>
        <strong>Handoff {handoff.number}</strong> {TELLS[handoff.state]} {waits !== null && `It waits: ${waits}. `}
        <span className="quiet">
          since <RelativeTime at={handoff.state_at} />
        </span>
      </p>
      <div className="row">
        {handoff.brief_id !== null && <Link href={briefHref(handoff.brief_id)}>Read the brief</Link>}
        <button type="button" className="button" disabled={!words} onClick={() => setAsking(true)}>
          Call it off
        </button>
      </div>
      <Confirm
        open={asking}
        title="Call the handoff off?"
        yes="Call it off"
        busy={busy}
        onYes={cancel}
        onClose={() => {
          setAsking(false)
          reset()
        }}
      >
        <p>The session goes on as it is. A brief that was written stays in the list and is not used.</p>
        {trouble !== null && <Problem problem={trouble} />}
      </Confirm>
    </div>
  )
}
