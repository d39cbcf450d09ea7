import { useEffect, useMemo, useState } from 'react'
import type { JobShown } from '../../../../src/contract/api/jobs.js'
import { moneyText, plural, shortId, tokensText, UNKNOWN } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { useParameter } from '../../navigation.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Empty, Problem, Skeleton } from '../../parts/faces.js'
import { Gauge } from '../../parts/gauge.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { jobHref } from '../../route.js'
import { useCall } from '../../use-call.js'
import { useSoon } from '../../use-soon.js'
import { HowToBegin } from './how-to-begin.js'
import { inOrder, isOver, matches, roundsOf, spentTokens, taskOf } from './job-facts.js'
import { JobStatus } from './job-status.js'
import { StartJob } from './start-job.js'

export function JobList() {
  const [older, setOlder] = useState(false)
  const [words, setWords] = useParameter('q')
  const asked = useCall('jobs', { query: older ? { all: true } : {} })
  const isEmpty = asked.data?.jobs.length === 0
  // Who has none of late may still have older ones.
  useEffect(() => {
    if (isEmpty) setOlder(true)
  }, [isEmpty])
  const live = useLive((state) => state.jobs)
  const gone = useLive((state) => state.gone)
  useSoon(gone, asked.again)
  const jobs = useMemo(() => joined(asked.data?.jobs ?? [], live), [asked.data, live])
  const shown = useMemo(() => (words.trim() === '' ? jobs : jobs.filter((job) => matches(job, words.trim()))), [jobs, words])
  const open = shown.filter((job) => !isOver(job))
  const over = shown.filter(isOver)
  return (
    <>
      <PageHead title="Jobs" label="Jobs">
        <div className="page-tools">
          {jobs.length > 0 && (
            <input
              type="search"
              className="page-search"
              aria-label="Filter jobs"
              placeholder="Filter"
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          )}
          <StartJob />
        </div>
      </PageHead>
      {asked.problem !== null && <Problem problem={asked.problem} again={asked.again} />}
      {asked.loading && jobs.length === 0 && <Skeleton lines={6} />}
      {isEmpty && older && jobs.length === 0 && (
        <Empty title="No jobs yet">
          <HowToBegin />
        </Empty>
      )}
      {open.length > 0 && (
        <Section title="Open" aside={<span className="quiet">{plural(open.length, 'job')}</span>}>
          <JobTable jobs={open} caption="Open jobs" />
        </Section>
      )}
      {over.length > 0 && (
        <Section title="Over" aside={<span className="quiet">{older ? plural(over.length, 'job') : 'of the last week'}</span>}>
          <JobTable jobs={over} caption="Jobs that are over" />
        </Section>
      )}
      {jobs.length > 0 && shown.length === 0 && (
        <p className="quiet">No job has “{words}” in its task, agent, branch or folder.</p>
      )}
      {!older && jobs.length > 0 && (
        <button type="button" className="button list-more" onClick={() => setOlder(true)}>
          Show older jobs
        </button>
      )}
    </>
  )
}

/** What is live is newer than what was asked for. */
function joined(asked: readonly JobShown[], live: ReadonlyMap<string, JobShown>): JobShown[] {
  return inOrder(new Map([...asked.map((job) => [job.job_id, job] as const), ...live]).values())
}

const COLUMNS: readonly Column<JobShown>[] = [
  { id: 'task', head: 'Job', wide: true, cell: (job) => <JobName job={job} /> },
  { id: 'status', head: 'Status', cell: (job) => <JobStatus job={job} />, narrow: 'bare' },
  { id: 'sessions', head: 'Sessions', cell: (job) => <Chain job={job} /> },
  { id: 'steps', head: 'Steps', figure: true, cell: ({ steps }) => steps, narrow: 'hide' },
  {
    id: 'handoffs',
    head: 'Handoffs',
    figure: true,
    narrow: 'hide',
    cell: ({ handoffs, max_handoffs }) => (
      <span>
        {handoffs} <span className="quiet">of {max_handoffs}</span>
      </span>
    ),
  },
  { id: 'spend', head: 'Spend', figure: true, cell: (job) => <Spend job={job} /> },
  { id: 'checks', head: 'Checks', cell: (job) => <ChecksShort job={job} /> },
  { id: 'age', head: 'Begun', figure: true, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]

function JobTable({ jobs, caption }: { jobs: readonly JobShown[]; caption: string }) {
  return (
    <div className="job-table">
      <DataTable
        rows={jobs}
        columns={COLUMNS}
        rowKey={({ job_id }) => job_id}
        href={({ job_id }) => jobHref(job_id)}
        caption={caption}
      />
    </div>
  )
}

function JobName({ job }: { job: JobShown }) {
  const { job_id: id, agent, branch_name: branch } = job
  const task = taskOf(job)
  const small = [task === agent ? null : agent, branch, task === null ? null : id].filter((part) => part !== null)
  return (
    <span className="job-name">
      <span className="job-task">{task ?? id}</span>
      <span className="job-small quiet">{small.join(' · ')}</span>
    </span>
  )
}

const SHOWN = 4

/** Its sessions as small gauges, the newest last: how often it was full, and how far the one at work is. */
function Chain({ job: { sessions } }: { job: JobShown }) {
  if (sessions.length === 0) return <span className="quiet none">{UNKNOWN}</span>
  const hidden = Math.max(0, sessions.length - SHOWN)
  return (
    <span className="chain-small">
      {hidden > 0 && (
        <span className="quiet" title={`${plural(hidden, 'earlier session')}`}>
          +{hidden}
        </span>
      )}
      {sessions.slice(-SHOWN).map((session) => (
        <Gauge key={session.session_id} figures={session} size="slim" label={`Session ${session.number}`} />
      ))}
    </span>
  )
}

function Spend({ job }: { job: JobShown }) {
  const { cost_usd: cost } = job.spend
  return cost === null ? `${tokensText(spentTokens(job))} tokens` : moneyText(cost)
}

function ChecksShort({ job }: { job: JobShown }) {
  const [last] = roundsOf(job.checks)
  if (last === undefined) return <span className="quiet none">{UNKNOWN}</span>
  const text = last.failed === 0 ? `${last.checks.length} passed` : `${last.failed} of ${last.checks.length} failed`
  return (
    <span className="check-short" data-ok={last.failed === 0} title={`Round ${last.round}`}>
      {text}
    </span>
  )
}

export const jobTitle = (job: JobShown): string => taskOf(job) ?? shortId(job.job_id)
