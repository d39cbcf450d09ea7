import { useState } from 'react'
import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
import { call } from '../../api.js'
import { useLive } from '../../live/use-live.js'
import { Confirm } from '../../parts/dialog.js'
import { Problem } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { seatName } from '../../seats/seats.js'
import { useAct } from '../../use-act.js'

/** What a person may do with a session. Needs a key. */
export function Actions({ session, again }: { session: SessionDetail; again: () => void }) {
  const words = useLive((live) => live.words)
  const [asking, setAsking] = useState(false)
  const { busy, act } = useAct()
  const { session_id: id, enabled } = session
  const isOver = session.state === 'ended'
  const without = words ? undefined : 'This needs a key: run baton open'
  const toggle = (): void =>
    act(async () => {
      try {
        const { enabled: now } = await call('switchSession', { id, body: { enabled: !enabled } })
        toast(now ? 'Baton speaks to this session again' : 'Baton is silent in this session')
      } catch (error) {
        toast(error instanceof Error ? error.message : String(error))
      }
      again()
    })
  return (
    <div className="row">
      <button type="button" className="button" disabled={!words || busy} title={without} onClick={toggle}>
        {enabled ? 'Silence' : 'Wake'}
      </button>
      {!isOver && session.handoff === null && (
        <button type="button" className="button primary" disabled={!words} title={without} onClick={() => setAsking(true)}>
          Hand off now
        </button>
      )}
      {asking && <AskHandoff session={session} onClose={() => setAsking(false)} again={again} />}
    </div>
  )
}

function AskHandoff({ session, onClose, again }: { session: SessionDetail; onClose: () => void; again: () => void }) {
  const [reason, setReason] = useState('')
  const { busy, trouble, act } = useAct()
  const ask = (): void =>
    act(async () => {
      await call('handOff', { id: session.session_id, body: { reason: reason.trim() === '' ? null : reason.trim() } })
      toast('The agent is asked for a brief')
      onClose()
      again()
    })
  return (
    <Confirm open title={`Hand ${seatName(session)} over?`} yes="Hand off" busy={busy} onYes={ask} onClose={onClose}>
      <p>
        The agent writes a brief at the end of its turn. Baton checks it against the transcript and begins a fresh session with it
        in the same seat. Nothing that runs is interrupted.
      </p>
      <label className="field">
        <span>Why (optional)</span>
        <input value={reason} maxLength={2_000} onChange={(event) => setReason(event.target.value)} />
      </label>
      {trouble !== null && <Problem problem={trouble} />}
    </Confirm>
  )
}
