import { useMemo, useState } from 'react'
import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import { folderName, plural } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { useParameter } from '../../navigation.js'
import { Command } from '../../parts/copy-button.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Empty, Problem, Skeleton, Withheld } from '../../parts/faces.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { briefHref } from '../../route.js'
import { useCall } from '../../use-call.js'
import { AUTHORS, briefSeat, inReviewOrder, isInReview, matches, STATUS_TELLS } from './brief-facts.js'
import { ReviewQueue } from './review-queue.js'
import { Score } from './score.js'
import { useAgainOn } from './use-again-on.js'

const PAGE = 100

export function BriefList() {
  const status = useLive((live) => live.status)
  const words = useLive((live) => live.words)
  return (
    <>
      {words || status === 'connecting' ? (
        <Briefs />
      ) : (
        <>
          <PageHead title="Briefs" label="Briefs" />
          <Empty title="Briefs are words">
            <Withheld what="What agents wrote for their successors" />
          </Empty>
        </>
      )}
    </>
  )
}

function Briefs() {
  const [limit, setLimit] = useState(PAGE)
  const [look, setLook] = useParameter('q')
  const { data, problem, loading, again } = useCall('briefs', { query: { limit } })
  const live = useLive((state) => state.briefs)
  useAgainOn((event) => event.type.startsWith('handoff_') || event.type === 'compaction_complete', again, live)
  const review = useMemo(() => {
    const asked = (data?.briefs ?? []).filter(isInReview).map((row) => [row.brief_id, row] as const)
    return inReviewOrder(new Map([...asked, ...live]).values())
  }, [data, live])
  const rows = useMemo(() => {
    const all = (data?.briefs ?? []).map((row) => live.get(row.brief_id) ?? row)
    return look.trim() === '' ? all : all.filter((row) => matches(row, look.trim()))
  }, [data, live, look])
  const any = (data?.briefs.length ?? 0) > 0
  return (
    <>
      <PageHead title="Briefs" label="Briefs">
        {any && (
          <input
            type="search"
            className="page-search"
            aria-label="Filter briefs"
            placeholder="Filter"
            value={look}
            onChange={(event) => setLook(event.target.value)}
          />
        )}
      </PageHead>
      {problem !== null && problem.status !== 401 && <Problem problem={problem} again={again} />}
      {loading && <Skeleton lines={6} />}
      {review.length > 0 && (
        <Section title="To review" aside={<span className="quiet">{plural(review.length, 'brief')}</span>}>
          <ReviewQueue briefs={review} done={again} />
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
          {rows.length === 0 && <p className="quiet">No brief has “{look}” in its seat, project, branch or reason.</p>}
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
        {row.reason !== null && <span className="brief-reason quiet">{row.reason}</span>}
      </span>
    ),
  },
  {
    id: 'status',
    head: 'Status',
    cell: (row) => <StateBadge state={row.status} tells={STATUS_TELLS[row.status]} />,
    narrow: 'bare',
  },
  { id: 'carries', head: 'Carries', figure: true, cell: ({ coverage }) => <Score score={coverage?.score ?? null} bar /> },
  { id: 'author', head: 'Written by', cell: ({ author }) => <span className="nowrap">{AUTHORS[author]}</span> },
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
  { id: 'taken', head: 'Taken', figure: true, cell: ({ taken_at }) => <RelativeTime at={taken_at} /> },
]

function NoBriefs() {
  return (
    <Empty title="No briefs yet">
      <p>
        A brief is what an agent writes for the fresh session that goes on with its work. Sessions are asked for one when they are
        nearly full; you can ask any time:
      </p>
      <Command text="baton handoffs request SEAT" />
      <p>
        To look at each brief before it is used, set <code>handoff: {'{ review_seconds: 60 }'}</code> in <code>config.yaml</code>,
        or <code>approval</code> to be waited for.
      </p>
    </Empty>
  )
}
