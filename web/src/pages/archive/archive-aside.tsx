import { useState, useSyncExternalStore } from 'react'
import type { ArchiveShown } from '../../../../src/contract/api/archives.js'
import { bytesText, groupedText, plural, shortId } from '../../format.js'
import { Link } from '../../navigation.js'
import { Command, CopyButton, Id } from '../../parts/copy-button.js'
import { FactsList } from '../../parts/facts-list.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { sessionHref } from '../../route.js'
import { ForgetDialog } from './forget-dialog.js'
import { RestoreDialog } from './restore-dialog.js'
import { shortArchive, TRIGGER, transcriptHref } from './words.js'

/** What an archive is, and what can be done with it. */
export function ArchiveAside({ archive, subagent }: { archive: ArchiveShown; subagent: string }) {
  const [dialog, setDialog] = useState<'restore' | 'forget' | null>(null)
  const { archive_id: id, session_id: session } = archive
  const name = shortArchive(id)
  const isNarrow = useNarrow()
  const told = (
    <>
      <FactsList
        facts={[
          ['State', archive.status !== 'kept' && <StateBadge state={archive.status} />],
          ['Kept', TRIGGER[archive.trigger]],
          ['When', <RelativeTime key="when" at={archive.created_at} />],
          [
            'Size',
            <span key="size" title={`${groupedText(archive.bytes)} bytes`}>
              {bytesText(archive.bytes)}
            </span>,
          ],
          [
            'On the disk',
            <span key="stored" title="Beyond what older archives of this session hold already">
              {bytesText(archive.stored_bytes)}
            </span>,
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
          ['Archive', <Id key="id" id={id} label="archive id" short={name} />],
          ['SHA-256', archive.sha256 !== null && <Id id={archive.sha256} label="hash" short={archive.sha256.slice(0, 12)} />],
        ]}
      />
      {archive.subagents.length > 0 && <Subagents archive={archive} chosen={subagent} />}
      <div className="archive-actions">
        <button type="button" className="button" disabled={archive.status !== 'kept'} onClick={() => setDialog('restore')}>
          Restore…
        </button>
        <Link className="button" href={`/archive?session=${encodeURIComponent(session)}`}>
          All of this session
        </Link>
        <button type="button" className="button grave" onClick={() => setDialog('forget')}>
          Forget session…
        </button>
      </div>
      <details className="archive-commands">
        <summary>In a terminal</summary>
        <ul>
          {[
            `baton archive show ${name}`,
            `baton archive restore ${name} --to session.jsonl`,
            `baton archive export ${name} --to give-away.jsonl --redact`,
            `baton archive verify ${name}`,
            `baton archive forget ${session}`,
          ].map((text) => (
            <li key={text}>
              <Command text={text} />
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
          <div className="archive-told">{told}</div>
        </details>
      ) : (
        <div className="archive-told">{told}</div>
      )}
      <RestoreDialog archive={archive} subagent={subagent} open={dialog === 'restore'} onClose={() => setDialog(null)} />
      <ForgetDialog session={session} open={dialog === 'forget'} onClose={() => setDialog(null)} />
    </aside>
  )
}

const narrow = matchMedia('(max-width: 60rem)')
/** Where there is no room beside the text, it is folded away above it. */
const useNarrow = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )

function Subagents({ archive, chosen }: { archive: ArchiveShown; chosen: string }) {
  const { archive_id: id, subagents } = archive
  return (
    <nav className="subagents" aria-label="Transcripts">
      <h2>{plural(subagents.length, 'subagent')}</h2>
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
