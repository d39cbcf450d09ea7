import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { BriefDetail, BriefRow } from '../../../../src/contract/api/briefs.js'
import { callApi, problemFrom } from '../../api/call-api.js'
import { useAction } from '../../api/use-act.js'
import { CopyButton } from '../../parts/copy-button.js'
import { ConfirmDialog } from '../../parts/dialog.js'
import { bytesText, exactTimeText, folderName, percentText, twoDigits } from '../../parts/format.js'
import { Link, navigate } from '../../parts/navigation.js'
import { Problem, type ProblemView } from '../../parts/page-states.js'
import { briefHref } from '../../parts/route.js'
import { showToast } from '../../parts/toast.js'
import { AUTHORS, briefTitle, canStillChange, completedText, isInReview } from './brief-facts.js'

/** Buttons to approve and cancel a brief. `withLink` adds a link to its text. */
export function DecideButtons({
  brief,
  done,
  withLink = false,
  children,
}: {
  brief: BriefRow
  done: () => void
  withLink?: boolean
  children?: ReactNode
}) {
  const { busy, trouble, act } = useAction()
  const [asking, setAsking] = useState(false)
  const decide = (route: 'approveBrief' | 'cancelBrief', confirmation: string): void =>
    act(async () => {
      try {
        await callApi(route, { id: brief.brief_id })
        showToast(confirmation)
      } finally {
        setAsking(false)
        done()
      }
    })
  return (
    <div className="decide">
      <div className="row">
        {children}
        {canStillChange(brief) && (
          <button type="button" className="button" data-act="cancel" disabled={busy} onClick={() => setAsking(true)}>
            Cancel the brief…
          </button>
        )}
        {isInReview(brief) && (
          <button
            type="button"
            className={withLink ? 'button' : 'button primary'}
            data-act="approve"
            disabled={busy}
            onClick={() => decide('approveBrief', 'Approved: the handoff continues')}
          >
            Approve
          </button>
        )}
        {withLink && (
          <Link href={briefHref(brief.brief_id)} className="button primary" data-act="read">
            Read the brief
          </Link>
        )}
      </div>
      {trouble !== null && <Problem problem={trouble} />}
      <ConfirmDialog
        open={asking}
        title="Cancel this brief?"
        yes="Cancel the brief"
        no="Keep the brief"
        busy={busy}
        danger
        onYes={() => decide('cancelBrief', 'Cancelled: the session continues as it is')}
        onClose={() => setAsking(false)}
      >
        <p>
          The handoff that waits for this brief is cancelled too, and the session continues as it is. The text stays in
          its file.
        </p>
      </ConfirmDialog>
    </div>
  )
}

/** Briefs that wait for the user's review, the most urgent first. */
export function ReviewQueue({ briefs, done }: { briefs: readonly BriefRow[]; done: () => void }) {
  return (
    <ul className="review">
      {briefs.map((brief) => (
        <li key={brief.brief_id} data-brief={brief.brief_id}>
          <div className="review-what">
            <Link href={briefHref(brief.brief_id)} data-item="">
              {briefTitle(brief)}
            </Link>
            <p className="quiet">
              {[`by ${AUTHORS[brief.author]}`, brief.project && folderName(brief.project), brief.branch, brief.reason]
                .filter(Boolean)
                .join(' · ')}
            </p>
            <p className="review-completed" data-missing={brief.coverage?.missing.length}>
              {completedText(brief)}
            </p>
          </div>
          <p className="review-score">
            {brief.coverage !== null && (
              <>
                <span className="quiet">covers</span> <CoverageScore score={brief.coverage.score} />
              </>
            )}
          </p>
          <p className="review-until">
            <ReviewCountdown brief={brief} />
          </p>
          <DecideButtons brief={brief} done={done} withLink />
        </li>
      ))}
    </ul>
  )
}

export function ReviewCountdown({ brief }: { brief: BriefRow }) {
  if (brief.review_until === null) return <span className="quiet">waits for your approval</span>
  return (
    <>
      <span className="quiet">used automatically in</span> <Countdown until={brief.review_until} />
    </>
  )
}

/** Remaining time of a countdown: `0:27`, `12:05`, `1:02:05`. */
export function countdownText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0
    ? `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`
    : `${minutes}:${twoDigits(seconds % 60)}`
}

/** Counts down to a time every second. Screen readers do not read `role=timer` aloud. */
function Countdown({ until }: { until: string }) {
  const [left, setLeft] = useState(() => Date.parse(until) - Date.now())
  useEffect(() => {
    const update = (): void => setLeft(Date.parse(until) - Date.now())
    update()
    const timer = setInterval(update, 1_000)
    return () => clearInterval(timer)
  }, [until])
  return (
    <time className="countdown" role="timer" dateTime={until} title={exactTimeText(until)}>
      {countdownText(left)}
    </time>
  )
}

/** Percentage of the session's facts that a brief covers. A dash when there were no facts. */
export function CoverageScore({ score, bar = false }: { score: number | null; bar?: boolean }) {
  if (score === null)
    return (
      <span className="quiet" title="There was no transcript to compare the brief with">
        not checked
      </span>
    )
  const percent = Math.floor(score * 100)
  return (
    <span
      className="score"
      title={`The author’s text covers ${percentText(percent)} of the facts. Baton adds the missing ones.`}
    >
      {bar && (
        <span className="score-bar" aria-hidden="true">
          <span style={{ inlineSize: `${percent}%` }} />
        </span>
      )}
      {percent}%
    </span>
  )
}

/** Unsaved texts by brief id, so that an editor that is opened again still has them. */
const drafts = new Map<string, string>()

/** Editor for the text of a brief. Baton does not use the brief while the editor is open. */
export function BriefEditor({ brief, text, onClose }: { brief: BriefDetail; text: string; onClose: () => void }) {
  const { brief_id: id } = brief
  const [draft, setDraft] = useState(() => drafts.get(id) ?? text)
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<ProblemView | null>(null)
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
      const fresh = await callApi('editBrief', { id, body: { text: draft } })
      kept.current = true
      drafts.delete(id)
      showToast(`Saved as brief ${fresh.sequence}`)
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
        // biome-ignore lint/a11y/noAutofocus: the user opened the editor to write
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
          Saving creates a new brief; this one stays as it is. {bytesText(new Blob([draft]).size)}
        </p>
        <div className="row">
          <button type="button" className="button" data-act="leave" onClick={leave} disabled={busy}>
            {changed ? 'Discard the changes' : 'Close'}
          </button>
          <button
            type="button"
            className="button primary"
            data-act="save"
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

/** Tells the server that the brief is being edited, until the editor or the page is closed. */
function useHold(id: string, kept: { readonly current: boolean }, refused: (problem: ProblemView) => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the editor opens
  useEffect(() => {
    let held = true
    const holdRequest = callApi('holdBrief', { id, body: { editing: true } }).catch((error) => {
      held = false
      refused(problemFrom(error))
    })
    const release = (keepalive: boolean): void => {
      if (!held || kept.current) return
      held = false
      const sendRelease = (): Promise<unknown> =>
        callApi('holdBrief', { id, body: { editing: false }, keepalive }).catch(() => {})
      // A page that is being closed cannot wait for a reply.
      if (keepalive) void sendRelease()
      else void holdRequest.then(sendRelease)
    }
    const onPageHide = (): void => release(true)
    window.addEventListener('pagehide', onPageHide)
    return () => {
      window.removeEventListener('pagehide', onPageHide)
      release(false)
    }
  }, [])
}
