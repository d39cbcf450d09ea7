import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import type { BriefDetail, BriefView } from '../../../../src/contract/api/briefs.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnEvent } from '../../api/use-refetch.js'
import { useLive } from '../../live/use-live.js'
import { CopyableId } from '../../parts/copy-button.js'
import { FactsList } from '../../parts/facts-list.js'
import { countedNoun, groupedText, percentText, shortId } from '../../parts/format.js'
import { Gauge, GaugeNumber } from '../../parts/gauge.js'
import { Link, useParameter } from '../../parts/navigation.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { MissingRecord, Problem, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref, sessionHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import {
  AUTHORS,
  briefTitle,
  canStillChange,
  countsByKind,
  isInReview,
  kindText,
  missingByKind,
} from './brief-facts.js'
import { BriefEditor, DecideButtons, ReviewCountdown } from './brief-review.js'
import { BriefStatus } from './brief-status.js'
import { BriefDiff, BriefText } from './brief-text.js'

export function BriefDetailPage({ id }: { id: string }) {
  const { data, problem, loading, refetch } = useCall('brief', { id })
  const live = useLive((state) => state.briefs.get(data?.brief_id ?? id))
  useRefetchOnEvent(
    ({ type, seat_id }) => type.startsWith('handoff_') && (data === null || seat_id === data.seat_id),
    refetch,
    live && `${live.status} ${live.review_until}`,
  )
  if (data !== null) return <Brief brief={data} refetch={refetch} />
  return (
    <>
      <PageHead title={`Brief ${shortId(id)}`} label={`Brief ${shortId(id)}`} />
      {problem !== null && (
        <MissingRecord problem={problem} retry={refetch} list={{ href: '/briefs', name: 'All briefs' }} />
      )}
      {loading && <Skeleton lines={10} />}
    </>
  )
}

function Brief({ brief, refetch }: { brief: BriefDetail; refetch: () => void }) {
  const [editing, setEditing] = useState(false)
  const title = briefTitle(brief)
  const { text } = brief
  return (
    <>
      <PageHead title={title} label={title}>
        {!editing && (
          <DecideButtons brief={brief} done={refetch}>
            {text !== null && canStillChange(brief) && (
              <button type="button" className="button" data-act="edit" onClick={() => setEditing(true)}>
                Edit
              </button>
            )}
          </DecideButtons>
        )}
      </PageHead>
      <p className="brief-line">
        <BriefStatus status={brief.status} />
        {isInReview(brief) && !editing && (
          <span className="brief-until">
            <ReviewCountdown brief={brief} />
          </span>
        )}
        {brief.title !== null && !title.endsWith(brief.title) && <span className="cut">{brief.title}</span>}
        <span className="quiet">
          written <RelativeTime at={brief.taken_at} />
        </span>
      </p>
      <div className="columns brief-columns" data-editing={editing || undefined}>
        <div>
          {editing && text !== null ? (
            <BriefEditor
              brief={brief}
              text={text}
              onClose={() => {
                setEditing(false)
                refetch()
              }}
            />
          ) : (
            <Body brief={brief} />
          )}
        </div>
        <div>
          <Section title="Check">
            <BriefCheck coverage={brief.coverage} author={brief.author} />
          </Section>
          <Section title="Details">
            <BriefUse brief={brief} />
          </Section>
        </div>
      </div>
    </>
  )
}

function Body({ brief }: { brief: BriefDetail }) {
  const [view, setView] = useParameter('view')
  const { text, parent, verdict, path, added, addenda_text: addenda } = brief
  if (text === null)
    return (
      <Problem
        problem={{
          error:
            verdict === 'missing'
              ? 'The file of this brief is gone.'
              : 'The file of this brief was changed after Baton stored it.',
          hint: `No agent receives it. Its file: ${path}`,
        }}
      />
    )
  const body = (
    <>
      <h2 className="unseen">Text</h2>
      <BriefText text={text} added={added} />
      {addenda.map(({ at, text: late }) => (
        <section key={at} className="addendum" aria-label="Found later">
          <p className="added-note">
            Found later, <RelativeTime at={at} />
          </p>
          {late === null ? <p className="quiet">Its file is gone or was changed.</p> : <BriefText text={late} />}
        </section>
      ))}
    </>
  )
  if (parent === null) return body
  const difference = (
    <>
      <h2 className="unseen">Difference</h2>
      <BriefDiff before={parent.text} after={text} label={`Difference to brief ${parent.sequence}`} />
    </>
  )
  return (
    <Tabs
      label="View of the brief"
      chosen={view === 'diff' ? 'diff' : 'text'}
      onChoose={(id) => setView(id === 'text' ? '' : id)}
      tabs={[
        { id: 'text', label: 'Text', content: body },
        { id: 'diff', label: `Changes since brief ${parent.sequence}`, content: difference },
      ]}
    />
  )
}

type Coverage = NonNullable<BriefView['coverage']>

/** How much of the facts of the session the author's brief covers. */
function BriefCheck({ coverage, author }: { coverage: Coverage | null; author: BriefView['author'] }) {
  if (coverage === null)
    return (
      <p className="quiet">Not checked: there was no transcript to compare it with, or reading it took too long.</p>
    )
  const percent = Math.floor(coverage.score * 100)
  return (
    <div className="stack">
      <div className="coverage">
        <p>
          <span className="coverage-number">{percentText(percent)}</span>{' '}
          <span className="quiet">of the facts covered by the author’s text</span>
        </p>
        <div className="coverage-bar" aria-hidden="true">
          <span style={{ inlineSize: `${percent}%` }} />
        </div>
      </div>
      <Counts kinds={coverage.by_kind} />
      <MissingFacts missing={coverage.missing} author={author} />
      {coverage.unsupported.length > 0 && (
        <div>
          <h3>Figures not found in the transcript</h3>
          <ul className="facts-short">
            {coverage.unsupported.map((figure) => (
              <li key={figure}>{figure}</li>
            ))}
          </ul>
        </div>
      )}
      {coverage.claims !== undefined && coverage.claims.length > 0 && (
        <div>
          <h3>Claims the transcript does not support</h3>
          <ul className="facts-short">
            {coverage.claims.map(({ sentence, verdict, why }) => (
              <li key={sentence}>
                {sentence} <span className="quiet">{`${verdict}: ${why}`}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

function Counts({ kinds }: { kinds: Coverage['by_kind'] }) {
  return (
    <dl className="kinds">
      {countsByKind(kinds).map(({ kind, total, kept }) => (
        <div key={kind} data-whole={kept === total || undefined}>
          <dt>{kindText(kind)}</dt>
          <dd>
            {kept} <span className="quiet">of {total}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function MissingFacts({ missing, author }: { missing: Coverage['missing']; author: BriefView['author'] }) {
  if (missing.length === 0) return <p className="quiet">Nothing is missing.</p>
  return (
    <div>
      <h3 data-missing={missing.length}>
        {author === 'user' ? 'Left out by your edit' : 'Missing, added by Baton'}{' '}
        <span className="quiet">{countedNoun(missing.length, 'fact')}</span>
      </h3>
      {missingByKind(missing).map(([kind, texts]) => (
        <div key={kind} className="missing">
          <h4>{kindText(kind)}</h4>
          <ul className="facts-short">
            {texts.map((text) => (
              <li key={text} title={text}>
                {text}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}

const SIGNATURES: Readonly<Record<string, string>> = {
  genuine: 'valid: unchanged since Baton stored it',
  tampered: 'invalid: changed after Baton stored it',
  unsigned: 'not signed',
  missing: 'its file is gone',
}

/** Author, sources and use of a brief. */
function BriefUse({ brief }: { brief: BriefDetail }) {
  const session = (id: string) => (
    <Link href={sessionHref(id)} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  )
  return (
    <FactsList
      facts={[
        [
          'In use since',
          brief.used_at !== null && (
            <>
              <RelativeTime at={brief.used_at} />
              {brief.used_by_session_id !== null && <> by session {session(brief.used_by_session_id)}</>}
            </>
          ),
        ],
        [
          'Handoff',
          brief.handoff_state !== null && <StateBadge state={brief.handoff_state} help="State of the handoff" />,
        ],
        ['Written by', AUTHORS[brief.author]],
        ['Reason', brief.reason],
        ['Session', session(brief.session_id)],
        [
          'Previous brief',
          brief.parent_brief_id !== null && (
            <Link href={briefHref(brief.parent_brief_id)}>
              {brief.parent === null ? brief.parent_brief_id : `brief ${brief.parent.sequence}`}
            </Link>
          ),
        ],
        [
          'Context used',
          brief.used_tokens !== null && (
            <span className="brief-gauge" title={`${groupedText(brief.used_tokens)} tokens`}>
              <Gauge figures={brief} size="slim" label="Context used when it was written" />
              <GaugeNumber figures={brief} />
            </span>
          ),
        ],
        ['Project', brief.project !== null && <CopyableId id={brief.project} label="project" />],
        ['Branch', brief.branch !== null && <CopyableId id={brief.branch} label="branch" />],
        [
          'Commit',
          brief.commit !== null && <CopyableId id={brief.commit} label="commit" short={brief.commit.slice(0, 10)} />,
        ],
        ['Model', brief.model],
        ['Signature', SIGNATURES[brief.verdict] ?? brief.verdict],
        ['Brief id', <CopyableId key="id" id={brief.brief_id} label="brief id" />],
        ['File', <CopyableId key="file" id={brief.path} label="path of the brief’s file" />],
      ]}
    />
  )
}

interface Tab {
  id: string
  label: ReactNode
  content: ReactNode
}

/** Accessible tabs: arrow keys move between them, and only the chosen panel is rendered. */
function Tabs({
  tabs,
  chosen,
  onChoose,
  label,
}: {
  tabs: readonly Tab[]
  chosen: string
  onChoose: (id: string) => void
  label: string
}) {
  const prefix = useId()
  const current = tabs.find((tab) => tab.id === chosen) ?? tabs[0]
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0 || current === undefined) return
    event.preventDefault()
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length]!
    onChoose(next.id)
    document.getElementById(`${prefix}-${next.id}`)?.focus()
  }
  return (
    <div className="tabs">
      <div className="tab-list" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${prefix}-${tab.id}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={tab === current}
            aria-controls={`${prefix}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        id={`${prefix}-panel`}
        role="tabpanel"
        aria-labelledby={current && `${prefix}-${current.id}`}
        className="tab-panel"
      >
        {current?.content}
      </div>
    </div>
  )
}
