import { type FormEvent, useEffect, useState } from 'react'
import { problemFrom, problemText } from '../api.js'
import { enter } from '../enter.js'
import { useLive } from '../live/use-live.js'
import { Command } from '../parts/copy-button.js'
import { Dialog } from '../parts/dialog.js'
import { toast } from '../parts/toast.js'

/** Without a key the page shows figures only: said once, quietly, with the way to the rest. */
export function AccessNotice() {
  const status = useLive((live) => live.status)
  const words = useLive((live) => live.words)
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const show = (): void => {
      if (location.hash !== '#access') return
      history.replaceState(null, '', location.pathname + location.search)
      setOpen(true)
    }
    window.addEventListener('hashchange', show)
    return () => window.removeEventListener('hashchange', show)
  }, [])
  const isNeeded = status === 'refused' || (status === 'live' && !words)
  return (
    <>
      {isNeeded && (
        <aside className="notice" aria-label="Access">
          <p>
            {status === 'refused'
              ? 'This server lets nobody in without its token.'
              : 'Figures only. What was said in conversations, and changes, need a key.'}
          </p>
          <button type="button" className="button" onClick={() => setOpen(true)}>
            Get in
          </button>
        </aside>
      )}
      <Dialog open={open && isNeeded} onClose={() => setOpen(false)} title="Let this browser in">
        <EnterForm onDone={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

function EnterForm({ onDone }: { onDone: () => void }) {
  const [trouble, setTrouble] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim()
    if (token === '') return setTrouble('Paste the token first.')
    setBusy(true)
    try {
      await enter({ token })
      onDone()
      toast('This browser is let in')
    } catch (error) {
      setTrouble(problemText(problemFrom(error)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>In a terminal of the same user, this opens the page with a key:</p>
      <Command text="baton open" />
      <p>
        Or paste the server’s token. It is the file <code>token</code> in Baton’s data folder.
      </p>
      <label className="field">
        <span>Token</span>
        <input name="token" type="password" autoComplete="off" spellCheck={false} aria-invalid={trouble !== null} />
      </label>
      {trouble !== null && (
        <p className="field-trouble" role="alert">
          {trouble}
        </p>
      )}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onDone}>
          Not now
        </button>
        <button type="submit" className="button primary" disabled={busy}>
          Let in
        </button>
      </div>
    </form>
  )
}
