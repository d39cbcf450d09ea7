import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { BriefDetail, BriefRow } from '../../../../src/contract/api/briefs.js'
import { call, problemFrom } from '../../api/call-api.js'
import { useAct } from '../../api/use-act.js'
import { CopyButton } from '../../parts/copy-button.js'
import { Confirm } from '../../parts/dialog.js'
import { bytesText, exactText, folderName, percentText, twoDigits } from '../../parts/format.js'
import { Link, navigate } from '../../parts/navigation.js'
import { Problem, type ProblemShown } from '../../parts/page-states.js'
import { briefHref } from '../../parts/route.js'
import { toast } from '../../parts/toast.js'
import { AUTHORS, briefTitle, completedText, isInReview, isOpen } from './brief-facts.js'

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

/** Briefs that wait for a person, the most pressing first. */
export function ReviewQueue({ briefs, done }: { briefs: readonly BriefRow[]; done: () => void }) {
  return (
    <ul className="review">
      {briefs.map((brief) => (
        <li key={brief.brief_id}>
          <div className="review-what">
            <Link href={briefHref(brief.brief_id)} data-item="">
              {briefTitle(brief)}
            </Link>
            <p className="quiet">
              {[`by ${AUTHORS[brief.author]}`, brief.project && folderName(brief.project), brief.branch, brief.reason]
                .filter(Boolean)
                .join(' · ')}
            </p>
            <p className="review-completed">{completedText(brief)}</p>
          </div>
          <p className="review-score">
            {brief.coverage !== null && (
              <>
                <span className="quiet">covers</span> <Score score={brief.coverage.score} />
              </>
            )}
          </p>
          <p className="review-until">
            <Until brief={brief} />
          </p>
          <DecideButtons brief={brief} done={done} look />
        </li>
      ))}
    </ul>
  )
}

export function Until({ brief }: { brief: BriefRow }) {
  if (brief.review_until === null) return <span className="quiet">waits for your approval</span>
  return (
    <>
      <span className="quiet">used automatically in</span> <Countdown until={brief.review_until} />
    </>
  )
}

/** `0:27`, `12:05`, `1:02:05`. */
export function countdownText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0
    ? `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`
    : `${minutes}:${twoDigits(seconds % 60)}`
}

/** Counts down to a moment, second by second. Not read aloud: `role=timer` is silent. */
function Countdown({ until }: { until: string }) {
  const [left, setLeft] = useState(() => Date.parse(until) - Date.now())
  useEffect(() => {
    const look = (): void => setLeft(Date.parse(until) - Date.now())
    look()
    const timer = setInterval(look, 1_000)
    return () => clearInterval(timer)
  }, [until])
  return (
    <time className="countdown" role="timer" dateTime={until} title={exactText(until)}>
      {countdownText(left)}
    </time>
  )
}

/** How much of what happened a brief carries; a dash where there was nothing to compare it with. */
export function Score({ score, bar = false }: { score: number | null; bar?: boolean }) {
  if (score === null)
    return (
      <span className="quiet" title="There was no transcript to compare it with">
        not checked
      </span>
    )
  const percent = Math.floor(score * 100)
  return (
    <span className="score" title={`It covered ${percentText(percent)} of the facts before Baton completed it`}>
      {bar && (
        <span className="score-bar" aria-hidden="true">
          <span style={{ inlineSize: `${percent}%` }} />
        </span>
      )}
      {percent}%
    </span>
  )
}

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
      toast(`Saved as brief ${fresh.sequence}`)
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
          {brief.status === 'review' ? 'The brief is not used while you edit. ' : ''}
          Saving makes a new brief; this one stays as it is. {bytesText(new Blob([draft]).size)}
        </p>
        <div className="row">
          <button type="button" className="button" onClick={leave} disabled={busy}>
            {changed ? 'Discard' : 'Close'}
          </button>
          <button
            type="button"
            className="button primary"
            onClick={() => void save()}
            disabled={busy || draft.trim() === ''}
          >
            Save as new brief
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
