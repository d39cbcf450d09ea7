import { type ReactNode, useState } from 'react'
import type { JobDetail, JobView } from '../../../../src/contract/api/jobs.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnChange } from '../../api/use-refetch.js'
import { useLive } from '../../live/use-live.js'
import { useClock } from '../../parts/clock.js'
import { CopyableId, CopyButton } from '../../parts/copy-button.js'
import { FactsList } from '../../parts/facts-list.js'
import {
  countedNoun,
  durationText,
  groupedText,
  moneyText,
  percentText,
  shortId,
  tokensText,
} from '../../parts/format.js'
import { Gauge, GaugeNumber, GaugeTokens } from '../../parts/gauge.js'
import { Link } from '../../parts/navigation.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { MissingRecord, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref, sessionHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import {
  type Budget,
  budgetsOf,
  type CheckRound,
  isJobOver,
  isWorking,
  type JobCheck,
  jobTitle,
  roundsOf,
  spentTokens,
} from './job-facts.js'
import { JobActions, JobStatus, StatusNote } from './job-status.js'
import { LiveOutput } from './live-output.js'

export function JobDetailPage({ id }: { id: string }) {
  const { data, problem, loading, refetch } = useCall('job', { id })
  const live = useLive((state) => state.jobs.get(data?.job_id ?? id))
  const gone = useLive((state) => state.gone)
  useRefetchOnChange(refetch, gone)
  const isGone = problem?.status === 404
  if (live === undefined && (data === null || isGone))
    return (
      <>
        <PageHead title={`Job ${shortId(id)}`} label={`Job ${shortId(id)}`} />
        {problem !== null && (
          <MissingRecord problem={problem} retry={refetch} list={{ href: '/jobs', name: 'All jobs' }} />
        )}
        {loading && <Skeleton lines={8} />}
      </>
    )
  const job: JobDetail | JobView = data === null ? live! : { ...data, ...live }
  return <Job job={job} refetch={refetch} />
}

function Job({ job, refetch }: { job: JobDetail | JobView; refetch: () => void }) {
  const title = jobTitle(job)
  return (
    <>
      <PageHead title={title} label={title}>
        <JobActions job={job} done={refetch} />
      </PageHead>
      <p className="job-line">
        <JobStatus job={job} />
        {job.agent !== null && job.agent !== title && <span>{job.agent}</span>}
        <CopyableId id={job.job_id} label="job id" />
        <span className="quiet">
          started <RelativeTime at={job.created_at} />
        </span>
      </p>
      <StatusNote job={job} />
      <CurrentSession job={job} />
      <div className="columns">
        <div>
          {job.result !== null && job.status === 'completed' && (
            <Section id="final-answer" title="Final answer">
              <p className="words">{job.result}</p>
            </Section>
          )}
          <Section title="Sessions" aside={<span className="quiet">{countedNoun(job.handoffs, 'handoff')}</span>}>
            <AttemptChain sessions={job.sessions} atWork={isWorking(job)} />
          </Section>
          <Section title="Checks">
            <CheckRounds checks={job.checks} configured={'configured_checks' in job ? job.configured_checks : []} />
          </Section>
          <Section title="Output">
            <LiveOutput key={job.job_id} jobId={job.job_id} atWork={!isJobOver(job) && job.status !== 'paused'} />
          </Section>
        </div>
        <div>
          <Section title="Budgets">
            <BudgetBars job={job} />
          </Section>
          <Section title="Task">
            <p className="words job-prompt">{job.prompt}</p>
          </Section>
          <Section title="Details">
            <JobFolder job={job} />
          </Section>
        </div>
      </div>
    </>
  )
}

/** The job's current session, and the totals of the whole job. */
function CurrentSession({ job }: { job: JobView }) {
  const last = job.sessions.at(-1)
  const ran = useClock((now) => durationText(ranMs(job, now)))
  return (
    <div className="job-now">
      {last !== undefined && !isJobOver(job) && (
        <div className="job-gauge">
          <p>
            <span className="job-hero">
              <GaugeNumber figures={last} />
            </span>{' '}
            <span className="quiet">of the way to compaction in session {last.number}</span>{' '}
            <GaugeTokens figures={last} />
          </p>
          <Gauge figures={last} size="hero" label={`Session ${last.number}`} />
        </div>
      )}
      <dl className="figures">
        <Figure name="Steps" value={job.steps} />
        <Figure name="Handoffs" value={job.handoffs} />
        <Figure name="Compactions" value={job.compactions} />
        {job.denied_calls > 0 && <Figure name="Denied calls" value={job.denied_calls} />}
        <Figure name="Cost" value={moneyText(job.spend.cost_usd)} />
        <Figure name="Tokens" value={tokensText(spentTokens(job))} />
        <Figure name="Working time" value={ran} />
      </dl>
    </div>
  )
}

/** Milliseconds that all sessions of the job ran, including the current one until now. */
function ranMs(job: JobView, now: number): number {
  const last = job.sessions.at(-1)
  const startedAt = isWorking(job) && last?.ended_at === null ? Date.parse(last.started_at) : null
  return Math.max(job.ran_ms, startedAt === null ? 0 : now - startedAt)
}

function Figure({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function JobFolder({ job }: { job: JobDetail | JobView }) {
  const path = (text: string | null, label: string): ReactNode =>
    text !== null && <CopyableId id={text} label={label} />
  return (
    <FactsList
      facts={[
        ['Folder', path(job.folder, 'folder')],
        ['Worktree', path(job.worktree_path === job.folder ? null : job.worktree_path, 'worktree')],
        ['Branch', path(job.branch_name, 'branch')],
        ['Work item', job.work_item],
        ['Model', job.model ?? 'default of the client'],
        ['Permission mode', job.permission_mode ?? 'default of the client'],
        ['Runtime', job.runtime],
        ['Seat', path(job.seat_id, 'seat id')],
        [
          'Session',
          job.session_id !== null && <Link href={sessionHref(job.session_id)}>{shortId(job.session_id)}</Link>,
        ],
        ['Process', job.runner !== null && `${job.runner.pid}${job.runner.alive ? '' : ' (gone)'}`],
        ['Started', job.started_at !== null && <RelativeTime at={job.started_at} />],
        ['Ended', job.ended_at !== null && <RelativeTime at={job.ended_at} />],
        [
          'Files',
          path('files' in job && typeof job.files === 'string' ? job.files : null, 'folder of the job’s files'),
        ],
      ]}
    />
  )
}

type Attempt = JobView['sessions'][number]

/** Number of sessions shown of a long chain: the newest ones. */
const SHOWN = 4

/** All sessions of the job, oldest first, and how each was started. */
function AttemptChain({ sessions, atWork }: { sessions: readonly Attempt[]; atWork: boolean }) {
  const [all, setAll] = useState(false)
  const hidden = all || sessions.length <= SHOWN + 1 ? 0 : sessions.length - SHOWN
  if (sessions.length === 0) return <p className="quiet">No session has started yet.</p>
  return (
    <ol className="chain">
      {hidden > 0 && (
        <li>
          <button type="button" className="button chain-more" onClick={() => setAll(true)}>
            Show {countedNoun(hidden, 'earlier session')}
          </button>
        </li>
      )}
      {sessions.slice(hidden).map((attempt) => (
        <li key={attempt.session_id}>
          {attempt.number > 1 && <AttemptStart attempt={attempt} />}
          <div className="attempt" data-over={attempt.ended_at !== null || undefined}>
            <span className="attempt-number" aria-hidden="true">
              {attempt.number}
            </span>
            <div className="attempt-body">
              <p className="attempt-head">
                <Link href={sessionHref(attempt.session_id)} data-item="" title={attempt.session_id}>
                  Session {attempt.number} <code>{shortId(attempt.session_id)}</code>
                </Link>
                <span className="attempt-figures">
                  <GaugeTokens figures={attempt} /> <GaugeNumber figures={attempt} />
                </span>
              </p>
              <Gauge figures={attempt} label={`Session ${attempt.number}`} />
              <p className="attempt-small quiet">
                <AttemptFacts attempt={attempt} atWork={atWork} />
              </p>
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}

function AttemptStart({ attempt }: { attempt: Attempt }) {
  return (
    <p className="chain-link">
      {attempt.brief_id === null ? (
        <span className="quiet">{attempt.start === 'resume' ? 'resumed' : 'started without a brief'}</span>
      ) : (
        <>
          <span className="quiet">handed over with</span>{' '}
          <Link href={briefHref(attempt.brief_id)} data-item="">
            brief <code>{shortId(attempt.brief_id.replace(/^brief_/, ''))}</code>
          </Link>
        </>
      )}
    </p>
  )
}

function AttemptFacts({ attempt, atWork }: { attempt: Attempt; atWork: boolean }) {
  const { started_at: start, ended_at: end, steps, compactions, cost_usd: cost } = attempt
  const lasted = useClock((now) => durationText((end === null ? now : Date.parse(end)) - Date.parse(start)))
  const parts = [
    countedNoun(steps, 'step'),
    ...(compactions > 0 ? [countedNoun(compactions, 'compaction')] : []),
    ...(cost === null ? [] : [moneyText(cost)]),
    ...(end !== null ? [lasted] : atWork ? [`working for ${lasted}`] : []),
  ]
  return (
    <>
      {parts.join(' · ')} · <RelativeTime at={start} />
    </>
  )
}

type ConfiguredCheck = JobDetail['configured_checks'][number]

/** Rounds of checks that Baton ran to confirm that the job is done, newest first. */
function CheckRounds({ checks, configured }: { checks: readonly JobCheck[]; configured: readonly ConfiguredCheck[] }) {
  const rounds = roundsOf(checks)
  if (rounds.length === 0 && configured.length === 0)
    return <p className="quiet">No checks are configured: the job is done when the agent says so.</p>
  if (rounds.length === 0)
    return (
      <>
        <p className="quiet">Baton runs them when the agent says that it is done.</p>
        <ul className="round-checks">
          {configured.map(({ name, command }) => (
            <li className="round-check" data-state="pending" key={`${name} ${command}`}>
              <StateBadge state="pending" help="Has not run yet" />
              <CheckName name={name} command={command} />
            </li>
          ))}
        </ul>
      </>
    )
  return (
    <div className="rounds">
      {rounds.map((round, place) => (
        <details key={round.round} data-failed={round.failed} open={place === 0 || undefined}>
          <summary>
            Round {round.round}
            <span className="quiet"> {summaryOf(round)}</span>
          </summary>
          <ul className="round-checks">
            {round.checks.map((check) => (
              <CheckLine key={`${check.name} ${check.output_path}`} check={check} />
            ))}
          </ul>
        </details>
      ))}
    </div>
  )
}

const summaryOf = ({ failed, checks }: CheckRound): string =>
  failed === 0
    ? `${countedNoun(checks.length, 'check')} passed`
    : `${failed} of ${countedNoun(checks.length, 'check')} failed`

function CheckLine({ check }: { check: JobCheck }) {
  const { name, command, ok, exit_code: code, timed_out: late, duration_ms: took, output_path: path } = check
  return (
    <li className="round-check" data-ok={ok}>
      <StateBadge state={ok ? 'ok' : 'failed'} help={ok ? 'Exit code 0' : 'No exit code 0'} />
      <CheckName name={name} command={command} />
      <span className="check-end nowrap">
        {late ? 'timed out' : code === null ? 'killed' : `exit ${code}`}
        <span className="quiet"> {durationText(took)}</span>
      </span>
      <CopyButton text={path} label="path of the check’s output" />
    </li>
  )
}

function CheckName({ name, command }: ConfiguredCheck) {
  return (
    <span className="check-name">
      <code>{name}</code>
      {command !== name && <code className="quiet">{command}</code>}
    </span>
  )
}

const NAMES: Record<Budget['id'], string> = {
  usd: 'Cost',
  tokens: 'Tokens',
  turns: 'Steps',
  minutes: 'Working time',
  handoffs: 'Handoffs',
}
const TEXT: Record<Budget['id'], (figure: number | null) => string> = {
  usd: moneyText,
  tokens: tokensText,
  turns: groupedText,
  minutes: (minutes) => durationText(minutes === null ? null : minutes * 60_000),
  handoffs: groupedText,
}

/** Bars of the used part of each budget. Without a limit only the number is shown. */
function BudgetBars({ job }: { job: JobDetail | JobView }) {
  return (
    <dl className="budgets">
      {budgetsOf(job).map((budget) => (
        <div key={budget.id}>
          <dt>{NAMES[budget.id]}</dt>
          <dd>
            {TEXT[budget.id](budget.used)}
            <span className="quiet">
              {' '}
              {budget.allowed === null ? 'no limit' : `of ${TEXT[budget.id](budget.allowed)}`}
            </span>
          </dd>
          {budget.allowed !== null && budget.allowed > 0 && (
            <dd className="budget-part">
              <Bar name={NAMES[budget.id]} budget={budget} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  )
}

function Bar({ name, budget: { used, allowed } }: { name: string; budget: Budget }) {
  const percent = used === null ? 0 : Math.min(100, (used / allowed!) * 100)
  return (
    <div
      className="budget-bar"
      role="meter"
      aria-label={`${name} used`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      aria-valuetext={used === null ? 'not known yet' : `${percentText(percent)} used`}
      data-spent={percent >= 100 || undefined}
    >
      <span style={{ inlineSize: `${percent}%` }} />
    </div>
  )
}
