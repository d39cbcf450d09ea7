import type { ReactNode } from 'react'
import type { JobDetail, JobShown } from '../../../../src/contract/api/jobs.js'
import { durationText, moneyText, plural, shortId, tokensText } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { Link } from '../../navigation.js'
import { useClock } from '../../parts/clock.js'
import { Id } from '../../parts/copy-button.js'
import { Missing, Skeleton, Withheld } from '../../parts/faces.js'
import { FactsList } from '../../parts/facts-list.js'
import { Gauge, GaugeNumber, GaugeTokens } from '../../parts/gauge.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { sessionHref } from '../../route.js'
import { useCall } from '../../use-call.js'
import { useSoon } from '../../use-soon.js'
import { AttemptChain } from './attempt-chain.js'
import { BudgetBars } from './budget-bars.js'
import { CheckRounds } from './check-rounds.js'
import { JobActions } from './job-actions.js'
import { isOver, isWorking, spentTokens } from './job-facts.js'
import { jobTitle } from './job-list.js'
import { JobStatus } from './job-status.js'
import { LiveOutput } from './live-output.js'
import { WhyNote } from './why-note.js'

export function JobDetailPage({ id }: { id: string }) {
  const { data, problem, loading, again } = useCall('job', { id })
  const live = useLive((state) => state.jobs.get(data?.job_id ?? id))
  const gone = useLive((state) => state.gone)
  useSoon(gone, again)
  const isGone = problem?.status === 404
  if (live === undefined && (data === null || isGone))
    return (
      <>
        <PageHead title={`Job ${shortId(id)}`} label={`Job ${shortId(id)}`} />
        {problem !== null && <Missing problem={problem} again={again} list={{ href: '/jobs', name: 'All jobs' }} />}
        {loading && <Skeleton lines={8} />}
      </>
    )
  const job: JobDetail | JobShown = data === null ? live! : { ...data, ...live }
  return <Job job={job} again={again} />
}

function Job({ job, again }: { job: JobDetail | JobShown; again: () => void }) {
  const title = jobTitle(job)
  return (
    <>
      <PageHead title={title} label={title}>
        <JobActions job={job} done={again} />
      </PageHead>
      <p className="job-line">
        <JobStatus job={job} />
        {job.agent !== null && job.agent !== title && <span>{job.agent}</span>}
        <Id id={job.job_id} label="job id" />
        <span className="quiet">
          begun <RelativeTime at={job.created_at} />
        </span>
      </p>
      <WhyNote job={job} />
      <Now job={job} />
      <div className="columns">
        <div>
          {job.result !== null && job.status === 'completed' && (
            <Section title="What it said at the end">
              <p className="words">{job.result}</p>
            </Section>
          )}
          <Section title="Sessions" aside={<span className="quiet">{plural(job.handoffs, 'handoff')}</span>}>
            <AttemptChain sessions={job.sessions} atWork={isWorking(job)} />
          </Section>
          <Section title="Checks">
            <CheckRounds checks={job.checks} />
          </Section>
          <Section title="Output">
            <LiveOutput key={job.job_id} jobId={job.job_id} atWork={!isOver(job) && job.status !== 'paused'} />
          </Section>
        </div>
        <div>
          <Section title="Budgets">
            <BudgetBars job={job} />
          </Section>
          <Section title="Task">
            {job.prompt === null ? <Withheld what="The task" /> : <p className="words job-prompt">{job.prompt}</p>}
          </Section>
          <Section title="Where">
            <Where job={job} />
          </Section>
        </div>
      </div>
    </>
  )
}

/** The session at work, and the figures of the whole. */
function Now({ job }: { job: JobShown }) {
  const last = job.sessions.at(-1)
  const ran = useClock((now) => durationText(ranMs(job, now)))
  return (
    <div className="job-now">
      {last !== undefined && !isOver(job) && (
        <div className="job-gauge">
          <p>
            <span className="job-hero">
              <GaugeNumber figures={last} />
            </span>{' '}
            <span className="quiet">of the way to compaction, session {last.number}</span> <GaugeTokens figures={last} />
          </p>
          <Gauge figures={last} size="hero" label={`Session ${last.number}`} />
        </div>
      )}
      <dl className="figures">
        <Figure name="Steps" value={job.steps} />
        <Figure name="Handoffs" value={job.handoffs} />
        <Figure name="Compactions" value={job.compactions} />
        <Figure name="Cost" value={moneyText(job.spend.cost_usd)} />
        <Figure name="Tokens" value={tokensText(spentTokens(job))} />
        <Figure name="At work" value={ran} />
      </dl>
    </div>
  )
}

/** What ended sessions took, and the one at work until now. */
function ranMs(job: JobShown, now: number): number {
  const last = job.sessions.at(-1)
  const begun = isWorking(job) && last?.ended_at === null ? Date.parse(last.started_at) : null
  return Math.max(job.ran_ms, begun === null ? 0 : now - begun)
}

function Figure({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Where({ job }: { job: JobDetail | JobShown }) {
  const path = (text: string | null, label: string): ReactNode => text !== null && <Id id={text} label={label} />
  return (
    <FactsList
      facts={[
        ['Folder', path(job.folder, 'folder')],
        ['Worktree', path(job.worktree_path === job.folder ? null : job.worktree_path, 'worktree')],
        ['Branch', path(job.branch_name, 'branch')],
        ['Work item', job.work_item],
        ['Model', job.model ?? 'the client’s own'],
        ['Runtime', job.runtime],
        ['Seat', path(job.seat_id, 'seat id')],
        ['Session', job.session_id !== null && <Link href={sessionHref(job.session_id)}>{shortId(job.session_id)}</Link>],
        ['Runner', job.runner !== null && `process ${job.runner.pid}${job.runner.alive ? '' : ', which is gone'}`],
        ['Begun', job.started_at !== null && <RelativeTime at={job.started_at} />],
        ['Ended', job.ended_at !== null && <RelativeTime at={job.ended_at} />],
        ['Its files', path('files' in job && typeof job.files === 'string' ? job.files : null, 'folder of its files')],
      ]}
    />
  )
}
