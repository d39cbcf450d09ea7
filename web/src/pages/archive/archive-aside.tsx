import { type FormEvent, useState } from 'react'
import type { ArchiveView } from '../../../../src/contract/api/archives.js'
import type { ReplyOf } from '../../../../src/contract/api/routes.js'
import { callApi } from '../../api/call-api.js'
import { useAction } from '../../api/use-act.js'
import { useCall } from '../../api/use-call.js'
import { CopyableId, CopyButton, ShellCommand } from '../../parts/copy-button.js'
import { Dialog } from '../../parts/dialog.js'
import { FactsList } from '../../parts/facts-list.js'
import { bytesText, countedNoun, groupedText, shortId } from '../../parts/format.js'
import { Link, navigate } from '../../parts/navigation.js'
import { Problem } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { sessionHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import { showToast } from '../../parts/toast.js'
import { useMediaQuery } from '../../parts/use-media-query.js'
import { quoteForShell, shortArchiveId, TRIGGER_TEXTS, transcriptHref } from './archive-labels.js'

/** Sidebar of an archive: its facts, and buttons to restore or forget it. */
export function ArchiveAside({ archive, subagent }: { archive: ArchiveView; subagent: string }) {
  const [dialog, setDialog] = useState<'restore' | 'forget' | null>(null)
  const { archive_id: id, session_id: session } = archive
  const name = shortArchiveId(id)
  // On a narrow screen the facts are folded above the text.
  const isNarrow = useMediaQuery('(max-width: 60rem)')
  const facts = (
    <>
      <FactsList
        facts={[
          ['State', archive.status !== 'kept' && <StateBadge state={archive.status} />],
          ['Kept', TRIGGER_TEXTS[archive.trigger]],
          ['When', <RelativeTime key="when" at={archive.created_at} />],
          [
            'Size',
            <span key="size" title={`${groupedText(archive.bytes)} bytes`}>
              {bytesText(archive.bytes)}
            </span>,
          ],
          [
            'Disk space',
            archive.stored_bytes === 0 ? (
              'none: an older archive of the session has the same text'
            ) : (
              <span key="stored" title="Compressed, without what older archives of the session already contain">
                {bytesText(archive.stored_bytes)}
              </span>
            ),
          ],
          ['Search', archive.status === 'kept' && !archive.indexed && 'not searchable yet'],
          ['Project', archive.project !== null && <span className="mono">{archive.project}</span>],
          [
            'Session',
            <span key="session" className="row">
              <Link href={sessionHref(session)}>{shortId(session)}</Link>
              <CopyButton text={session} label="session id" />
            </span>,
          ],
          ['Archive', <CopyableId key="id" id={id} label="archive id" short={name} />],
          [
            'SHA-256',
            archive.sha256 !== null && (
              <CopyableId id={archive.sha256} label="hash" short={archive.sha256.slice(0, 12)} />
            ),
          ],
        ]}
      />
      {archive.subagents.length > 0 && <Subagents archive={archive} chosen={subagent} />}
      <div className="archive-actions">
        <button
          type="button"
          className="button"
          disabled={archive.status !== 'kept'}
          data-act="restore"
          onClick={() => setDialog('restore')}
        >
          Restore to a file…
        </button>
        <Link className="button" href={`/archive?session=${encodeURIComponent(session)}`}>
          All transcripts of this session
        </Link>
        <button type="button" className="button danger" data-act="forget" onClick={() => setDialog('forget')}>
          Forget this session…
        </button>
      </div>
      <details className="archive-commands">
        <summary>Commands for a terminal</summary>
        <ul>
          {[
            `baton archive show ${name}`,
            `baton archive restore ${name} --to session.jsonl`,
            `baton archive export ${name} --to give-away.jsonl --redact`,
            `baton archive verify ${name}`,
            `baton archive forget ${session}`,
          ].map((text) => (
            <li key={text}>
              <ShellCommand text={text} />
            </li>
          ))}
        </ul>
      </details>
    </>
  )
  return (
    <aside className="archive-aside" aria-label="About this transcript">
      {isNarrow ? (
        <details className="archive-about">
          <summary>About this transcript</summary>
          <div className="archive-facts">{facts}</div>
        </details>
      ) : (
        <div className="archive-facts">{facts}</div>
      )}
      <RestoreDialog
        archive={archive}
        subagent={subagent}
        open={dialog === 'restore'}
        onClose={() => setDialog(null)}
      />
      <ForgetDialog session={session} open={dialog === 'forget'} onClose={() => setDialog(null)} />
    </aside>
  )
}

function Subagents({ archive, chosen }: { archive: ArchiveView; chosen: string }) {
  const { archive_id: id, subagents } = archive
  return (
    <nav className="subagents" aria-label="Transcripts of the session and its subagents">
      <h2>{countedNoun(subagents.length, 'subagent')}</h2>
      <ul>
        <li>
          <Link href={transcriptHref(id, {})} aria-current={chosen === '' ? 'page' : undefined}>
            <span>The session itself</span> <span className="quiet">{bytesText(archive.bytes)}</span>
          </Link>
        </li>
        {subagents.map(({ name, bytes, trouble }) => (
          <li key={name}>
            {trouble === null ? (
              <Link href={transcriptHref(id, { subagent: name })} aria-current={chosen === name ? 'page' : undefined}>
                <span className="cut" title={name}>
                  {name}
                </span>{' '}
                <span className="quiet">{bytesText(bytes)}</span>
              </Link>
            ) : (
              <p className="subagent-trouble">
                {name}: {trouble}
              </p>
            )}
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface ForgetProps {
  session: string
  open: boolean
  onClose: () => void
}

/** Dialog that forgets a session. The user types the start of its id, as this cannot be undone. */
function ForgetDialog(props: ForgetProps) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title="Forget this session?">
      <ForgetForm {...props} />
    </Dialog>
  )
}

function ForgetForm({ session, onClose }: ForgetProps) {
  const [typed, setTyped] = useState('')
  const { busy, trouble, act } = useAction()
  const kept = useCall('archives', { query: { session, limit: 1_000 } })
  const start = session.slice(0, 6)
  const isSure = typed.trim().toLowerCase() === start.toLowerCase()
  const archives = kept.data?.archives ?? []
  const storedBytes = archives.reduce((sum, archive) => sum + archive.stored_bytes, 0)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isSure) return
    act(async () => {
      const gone = await callApi('forget', { id: session })
      showToast(`Forgotten: ${countedNoun(gone.archives, 'archive')}, ${bytesText(gone.freed_bytes)}`)
      navigate('/archive')
    })
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>This cannot be undone. Baton deletes:</p>
      <ul className="bullets">
        <li data-archives={kept.data === null ? undefined : archives.length}>
          {kept.data === null
            ? 'every archive of this session'
            : `${countedNoun(archives.length, 'archive')} of this session, ${bytesText(storedBytes)} on disk`}
        </li>
        <li>the session’s text in the search index</li>
        <li>its conversation text in briefs, summaries, loss reports and messages</li>
      </ul>
      <p>
        Events and numbers stay. Lists hide the session until it sends another signal. The agent’s own transcript is not
        touched. Briefs of later sessions may repeat conversation text of this one: forget those sessions too.
      </p>
      <label className="field">
        <span>
          Type <code>{start}</code>, the first characters of the session id
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
      {trouble !== null && <Problem problem={trouble} />}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Keep the session
        </button>
        <button type="submit" className="button danger" disabled={!isSure || busy}>
          {busy ? 'Forgetting…' : 'Forget the session'}
        </button>
      </div>
    </form>
  )
}

interface RestoreProps {
  archive: ArchiveView
  subagent: string
  open: boolean
  onClose: () => void
}

/** Dialog that writes the original transcript to a file on the server's machine. */
function RestoreDialog(props: RestoreProps) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title="Restore this transcript">
      <RestoreForm {...props} />
    </Dialog>
  )
}

function RestoreForm({ archive, subagent, onClose }: RestoreProps) {
  const [to, setTo] = useState('')
  const [force, setForce] = useState(false)
  const { busy, trouble, act } = useAction()
  const [done, setDone] = useState<ReplyOf<'restoreArchive'> | null>(null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    act(async () => {
      const body = { to: to.trim(), force, subagent: subagent || null }
      setDone(await callApi('restoreArchive', { id: archive.archive_id, body }))
    })
  }
  if (done !== null) {
    return (
      <>
        <p role="status" data-bytes={done.bytes}>
          Wrote {groupedText(done.bytes)} bytes, identical to the original. Only you can read the file:
        </p>
        <p className="mono words">
          {done.path} <CopyButton text={done.path} label="path" />
        </p>
        <div className="dialog-actions">
          <button type="button" className="button primary" onClick={onClose}>
            Close
          </button>
        </div>
      </>
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>File to write, on the server’s machine</span>
        <input
          name="to"
          className="mono"
          value={to}
          onChange={(event) => setTo(event.target.value)}
          placeholder="/home/me/session.jsonl"
          autoComplete="off"
          spellCheck={false}
          maxLength={4_096}
          required
        />
      </label>
      <label className="row">
        <input name="replace" type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
        Replace the file if it exists
      </label>
      {trouble !== null && <Problem problem={trouble} />}
      <p className="quiet">The same in a terminal:</p>
      <ShellCommand
        text={[
          `baton archive restore ${shortArchiveId(archive.archive_id)}`,
          `--to ${quoteForShell(to.trim() || 'session.jsonl')}`,
          ...(subagent === '' ? [] : [`--subagent ${quoteForShell(subagent)}`]),
          ...(force ? ['--force'] : []),
        ].join(' ')}
      />
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={busy}>
          Restore
        </button>
      </div>
    </form>
  )
}
