import { useState } from 'react'
import type { BriefDetail } from '../../../../src/contract/api/briefs.js'
import { shortId } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { useParameter } from '../../navigation.js'
import { Empty, Missing, Problem, Skeleton, Withheld } from '../../parts/faces.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { Tabs } from '../../parts/tabs.js'
import { useCall } from '../../use-call.js'
import { BriefCheck } from './brief-check.js'
import { BriefDiff } from './brief-diff.js'
import { BriefEditor } from './brief-editor.js'
import { briefTitle, isInReview, isOpen, STATUS_TELLS } from './brief-facts.js'
import { BriefText } from './brief-text.js'
import { BriefUse } from './brief-use.js'
import { DecideButtons } from './decide-buttons.js'
import { Until } from './review-queue.js'
import { useAgainOn } from './use-again-on.js'

export function BriefDetailPage({ id }: { id: string }) {
  const { data, problem, loading, again } = useCall('brief', { id })
  const live = useLive((state) => state.briefs.get(data?.brief_id ?? id))
  useAgainOn(
    ({ type, seat_id }) => type.startsWith('handoff_') && (data === null || seat_id === data.seat_id),
    again,
    live && `${live.status} ${live.review_until}`,
  )
  if (data !== null) return <Brief brief={data} again={again} />
  return (
    <>
      <PageHead title={`Brief ${shortId(id)}`} label={`Brief ${shortId(id)}`} />
      {problem?.status === 401 && (
        <Empty title="Briefs are words">
          <Withheld what="This brief" />
        </Empty>
      )}
      {problem !== null && problem.status !== 401 && (
        <Missing problem={problem} again={again} list={{ href: '/briefs', name: 'All briefs' }} />
      )}
      {loading && <Skeleton lines={10} />}
    </>
  )
}

function Brief({ brief, again }: { brief: BriefDetail; again: () => void }) {
  const [editing, setEditing] = useState(false)
  const title = briefTitle(brief)
  const { text } = brief
  return (
    <>
      <PageHead title={title} label={title}>
        {!editing && (
          <DecideButtons brief={brief} done={again}>
            {text !== null && isOpen(brief) && (
              <button type="button" className="button" onClick={() => setEditing(true)}>
                Edit
              </button>
            )}
          </DecideButtons>
        )}
      </PageHead>
      <p className="brief-line">
        <StateBadge state={brief.status} tells={STATUS_TELLS[brief.status]} />
        {isInReview(brief) && !editing && (
          <span className="brief-until">
            <Until brief={brief} />
          </span>
        )}
        <span className="quiet">
          taken <RelativeTime at={brief.taken_at} />
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
                again()
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
          <Section title="Where it comes from">
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
          error: verdict === 'missing' ? 'The file of this brief is gone.' : 'The file of this brief is not the one Baton kept.',
          hint: `No agent is given it. It lay in ${path}`,
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
      label="What to show of the brief"
      chosen={view === 'diff' ? 'diff' : 'text'}
      onChoose={(id) => setView(id === 'text' ? '' : id)}
      tabs={[
        { id: 'text', label: 'Text', content: body },
        { id: 'diff', label: `Since brief ${parent.sequence}`, content: difference },
      ]}
    />
  )
}
