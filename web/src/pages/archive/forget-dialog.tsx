import { type FormEvent, useState } from 'react'
import { type CallProblem, call, problemFrom } from '../../api.js'
import { bytesText, plural } from '../../format.js'
import { navigate } from '../../navigation.js'
import { Dialog } from '../../parts/dialog.js'
import { Problem } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { useCall } from '../../use-call.js'

interface Props {
  session: string
  open: boolean
  onClose: () => void
}

/** Forgetting cannot be taken back: it says what goes and what stays, and asks for the first letters of the session. */
export function ForgetDialog(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title="Forget this session">
      <ForgetForm {...props} />
    </Dialog>
  )
}

function ForgetForm({ session, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const kept = useCall('archives', { query: { session, limit: 1_000 } })
  const start = session.slice(0, 6)
  const isSure = typed.trim().toLowerCase() === start.toLowerCase()
  const archives = kept.data?.archives ?? []
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!isSure) return
    setBusy(true)
    setProblem(null)
    try {
      const gone = await call('forget', { id: session })
      toast(`Forgotten: ${plural(gone.archives, 'archive')}, ${bytesText(gone.freed_bytes)}`)
      navigate('/archive')
    } catch (error) {
      setProblem(problemFrom(error))
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>This cannot be taken back. Gone will be:</p>
      <ul className="bullets">
        <li>
          {kept.data === null
            ? 'every archive of this session'
            : `${plural(archives.length, 'archive')} of this session, ${bytesText(sum(archives.map((archive) => archive.stored_bytes)))} on the disk`}
        </li>
        <li>every word of it that can be searched</li>
        <li>what briefs, summaries, loss reports and messages of Baton’s quote of it</li>
      </ul>
      <p>
        That those things happened stays, and so do figures; lists leave the session out until it is heard of again. The agent’s
        own transcript is not touched. Briefs that later sessions wrote may repeat what was said: forget those sessions too.
      </p>
      <label className="field">
        <span>
          Type <code>{start}</code>, the beginning of its id
        </span>
        <input
          name="sure"
          className="mono"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
      </label>
      {problem !== null && <Problem problem={problem} />}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
        <button type="submit" className="button grave" disabled={!isSure || busy}>
          {busy ? 'Forgetting…' : 'Forget it'}
        </button>
      </div>
    </form>
  )
}

const sum = (figures: readonly number[]): number => figures.reduce((all, one) => all + one, 0)
