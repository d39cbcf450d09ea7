import '../../styles/pages.css'
import './briefs.css'
import { useMemo, useState } from 'react'
import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnEvent } from '../../api/use-refetch.js'
import { useLive } from '../../live/use-live.js'
import { ShellCommand } from '../../parts/copy-button.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { FilterField } from '../../parts/filter-field.js'
import { countedNoun, folderName } from '../../parts/format.js'
import { useParameter } from '../../parts/navigation.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { EmptyList, Problem, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref } from '../../parts/route.js'
import { BriefDetailPage } from './brief-detail.js'
import { AUTHORS, briefAbout, briefMatches, briefSeat, inReviewOrder, isInReview } from './brief-facts.js'
import { CoverageScore, ReviewQueue } from './brief-review.js'
import { BriefStatus } from './brief-status.js'

export default function BriefsPage({ id }: { id: string | null }) {
  return id === null ? <BriefList /> : <BriefDetailPage id={id} />
}

const PAGE = 100

function BriefList() {
  const [limit, setLimit] = useState(PAGE)
  const [words, setWords] = useParameter('q')
  const { data, problem, loading, refetch } = useCall('briefs', { query: { limit } })
  const live = useLive((state) => state.briefs)
  useRefetchOnEvent((event) => event.type.startsWith('handoff_') || event.type === 'compaction_complete', refetch, live)
  const review = useMemo(() => {
    const fetched = (data?.briefs ?? []).filter(isInReview).map((row) => [row.brief_id, row] as const)
    return inReviewOrder(new Map([...fetched, ...live]).values())
  }, [data, live])
  const rows = useMemo(() => {
    const all = (data?.briefs ?? []).map((row) => live.get(row.brief_id) ?? row)
    return words.trim() === '' ? all : all.filter((row) => briefMatches(row, words.trim()))
  }, [data, live, words])
  const any = (data?.briefs.length ?? 0) > 0
  return (
    <>
      <PageHead title="Briefs" label="Briefs">
        {any && <FilterField label="Filter briefs" value={words} onChange={setWords} />}
      </PageHead>
      {problem !== null && <Problem problem={problem} retry={refetch} />}
      {loading && <Skeleton lines={6} />}
      {review.length > 0 && (
        <Section
          id="to-review"
          title="To review"
          aside={<span className="quiet">{countedNoun(review.length, 'brief')}</span>}
        >
          <ReviewQueue briefs={review} done={refetch} />
        </Section>
      )}
      {data !== null && !any && review.length === 0 && <NoBriefs />}
      {any && (
        <Section title="All" aside={<span className="quiet">newest first</span>}>
          <DataTable
            rows={rows}
            columns={COLUMNS}
            rowKey={({ brief_id }) => brief_id}
            href={({ brief_id }) => briefHref(brief_id)}
            caption="Briefs"
          />
          {rows.length === 0 && (
            <p className="quiet">No brief contains “{words}” in its seat, project, branch or reason.</p>
          )}
          {(data?.briefs.length ?? 0) >= limit && limit < 1_000 && (
            <button type="button" className="button list-more" onClick={() => setLimit(1_000)}>
              Show older briefs
            </button>
          )}
        </Section>
      )}
    </>
  )
}

const COLUMNS: readonly Column<BriefRow>[] = [
  {
    id: 'brief',
    head: 'Brief',
    wide: true,
    cell: (row) => (
      <span className="brief-name">
        <span>
          {briefSeat(row)} <span className="quiet">{row.sequence}</span>
        </span>
        {briefAbout(row) !== '' && <span className="brief-reason quiet">{briefAbout(row)}</span>}
      </span>
    ),
  },
  {
    id: 'status',
    head: 'Status',
    cell: (row) => <BriefStatus status={row.status} />,
    narrow: 'bare',
  },
  {
    id: 'coverage',
    head: 'Covers',
    figure: true,
    cell: ({ coverage }) => <CoverageScore score={coverage?.score ?? null} bar />,
  },
  {
    id: 'author',
    head: 'Written by',
    cell: ({ author }) => <span className="nowrap">{AUTHORS[author]}</span>,
    narrow: 'hide',
  },
  {
    id: 'project',
    head: 'Project',
    cell: ({ project, branch }) => (
      <span className="cell-name" title={project ?? undefined}>
        {project === null ? '–' : folderName(project)}
        {branch !== null && <span className="quiet"> {branch}</span>}
      </span>
    ),
  },
  { id: 'taken', head: 'When', figure: true, cell: ({ taken_at }) => <RelativeTime at={taken_at} /> },
]

function NoBriefs() {
  return (
    <EmptyList id="no-briefs" title="No briefs yet">
      <p>
        A brief is the document with which a fresh session continues the work of a full one. Baton asks the agent for a
        brief when its context is nearly full. To ask for one now, name a seat of the overview:
      </p>
      <ShellCommand text="baton handoffs request SEAT" />
      <p>
        To review each brief before it is used, set <code>handoff: {'{ review_seconds: 60 }'}</code> in{' '}
        <code>config.yaml</code>. With <code>approval</code> in place of the number, Baton waits until you approve it.
      </p>
    </EmptyList>
  )
}
