import { useEffect, useRef, useState } from 'react'
import type { BriefDetail } from '../../../../src/contract/api/briefs.js'
import { call, problemFrom } from '../../api.js'
import { bytesText } from '../../format.js'
import { navigate } from '../../navigation.js'
import { CopyButton } from '../../parts/copy-button.js'
import { Problem, type ProblemShown } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { briefHref } from '../../route.js'

/** What was written and not kept, until the page is left: whoever comes back to the brief finds it. */
const drafts = new Map<string, string>()

/** Another text in the place of a brief. While it is open, the brief is not used. */
export function BriefEditor({ brief, text, onClose }: { brief: BriefDetail; text: string; onClose: () => void }) {
  const { brief_id: id } = brief
  const [draft, setDraft] = useState(() => drafts.get(id) ?? text)
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<ProblemShown | null>(null)
  const kept = useRef(false)
  const changed = draft !== text
  useHold(id, kept, setTrouble)
  useEffect(() => {
    if (changed && !kept.current) drafts.set(id, draft)
    else drafts.delete(id)
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    if (changed) window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [id, draft, changed])
  const save = async (): Promise<void> => {
    if (!changed) return onClose()
    setBusy(true)
    try {
      const fresh = await call('editBrief', { id, body: { text: draft } })
      kept.current = true
      drafts.delete(id)
      toast(`Kept as brief ${fresh.sequence}`)
      if (fresh.brief_id === id) onClose()
      else navigate(briefHref(fresh.brief_id), { replace: true })
    } catch (error) {
      setTrouble(problemFrom(error))
      setBusy(false)
    }
  }
  const leave = (): void => {
    drafts.delete(id)
    onClose()
  }
  return (
    <div className="editor">
      <label className="unseen" htmlFor="brief-text">
        Text of the brief
      </label>
      <textarea
        id="brief-text"
        className="mono"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: who asked to edit wants to write
        autoFocus
      />
      {trouble !== null && (
        <div className="stack">
          <Problem problem={trouble} />
          {changed && (
            <p className="row">
              Your text is still here. <CopyButton text={draft} label="text" />
            </p>
          )}
        </div>
      )}
      <div className="editor-foot">
        <p className="quiet">
          {brief.status === 'review' ? 'It is not used while you write. ' : ''}
          What you keep is a brief of its own; this one stays as it is. {bytesText(new Blob([draft]).size)}
        </p>
        <div className="row">
          <button type="button" className="button" onClick={leave} disabled={busy}>
            {changed ? 'Throw away' : 'Leave'}
          </button>
          <button type="button" className="button primary" onClick={() => void save()} disabled={busy || draft.trim() === ''}>
            Keep it
          </button>
        </div>
      </div>
    </div>
  )
}

/** Says that somebody writes, and when they no longer do, however they leave. */
function useHold(id: string, kept: { readonly current: boolean }, refused: (problem: ProblemShown) => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the editor opens
  useEffect(() => {
    let held = true
    const begun = call('holdBrief', { id, body: { editing: true } }).catch((error) => {
      held = false
      refused(problemFrom(error))
    })
    const release = (keepalive: boolean): void => {
      if (!held || kept.current) return
      held = false
      const end = (): Promise<unknown> => call('holdBrief', { id, body: { editing: false }, keepalive }).catch(() => {})
      // A page that goes cannot wait for an answer.
      if (keepalive) void end()
      else void begun.then(end)
    }
    const gone = (): void => release(true)
    window.addEventListener('pagehide', gone)
    return () => {
      window.removeEventListener('pagehide', gone)
      release(false)
    }
  }, [])
}
