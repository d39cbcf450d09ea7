import '../../styles/pages.css'
import './jobs.css'
import { type FormEvent, useEffect, useMemo, useState } from 'react'
import type { JobView, Projects } from '../../../../src/contract/api/jobs.js'
import { callApi, problemFrom } from '../../api/call-api.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnChange } from '../../api/use-refetch.js'
import { useLive } from '../../live/use-live.js'
import { CopyButton, ShellCommand } from '../../parts/copy-button.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Dialog } from '../../parts/dialog.js'
import { FilterField } from '../../parts/filter-field.js'
import { countedNoun, folderName, moneyText, tokensText, UNKNOWN_TEXT } from '../../parts/format.js'
import { Gauge } from '../../parts/gauge.js'
import { navigate, useParameter } from '../../parts/navigation.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { EmptyList, Problem, type ProblemView, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { jobHref } from '../../parts/route.js'
import { showToast } from '../../parts/toast.js'
import { JobDetailPage } from './job-detail.js'
import { isJobOver, jobMatches, roundsOf, sortJobs, spentTokens, taskOf } from './job-facts.js'
import { JobStatus } from './job-status.js'

export default function JobsPage({ id }: { id: string | null }) {
  return id === null ? <JobList /> : <JobDetailPage id={id} />
}

function JobList() {
  const [older, setOlder] = useState(false)
  const [words, setWords] = useParameter('q')
  const request = useCall('jobs', { query: older ? { all: true } : {} })
  const isEmpty = request.data?.jobs.length === 0
  // Without recent jobs, load older ones too.
  useEffect(() => {
    if (isEmpty) setOlder(true)
  }, [isEmpty])
  const live = useLive((state) => state.jobs)
  const gone = useLive((state) => state.gone)
  useRefetchOnChange(request.refetch, gone)
  const jobs = useMemo(() => mergeJobs(request.data?.jobs ?? [], live), [request.data, live])
  const shown = useMemo(
    () => (words.trim() === '' ? jobs : jobs.filter((job) => jobMatches(job, words.trim()))),
    [jobs, words],
  )
  const open = shown.filter((job) => !isJobOver(job))
  const over = shown.filter(isJobOver)
  return (
    <>
      <PageHead title="Jobs" label="Jobs">
        <div className="page-tools">
          {jobs.length > 0 && <FilterField label="Filter jobs" value={words} onChange={setWords} />}
          <StartJob />
        </div>
      </PageHead>
      {request.problem !== null && <Problem problem={request.problem} retry={request.refetch} />}
      {request.loading && jobs.length === 0 && <Skeleton lines={6} />}
      {isEmpty && older && jobs.length === 0 && (
        <EmptyList id="no-jobs" title="No jobs yet">
          <HowToStart />
        </EmptyList>
      )}
      {open.length > 0 && (
        <Section title="Open" aside={<span className="quiet">{countedNoun(open.length, 'job')}</span>}>
          <JobTable jobs={open} caption="Open jobs" />
        </Section>
      )}
      {over.length > 0 && (
        <Section
          title="Ended"
          aside={<span className="quiet">{older ? countedNoun(over.length, 'job') : 'in the last week'}</span>}
        >
          <JobTable jobs={over} caption="Ended jobs" />
        </Section>
      )}
      {jobs.length > 0 && shown.length === 0 && (
        <p className="quiet">No job contains “{words}” in its task, agent, branch or folder.</p>
      )}
      {!older && jobs.length > 0 && (
        <button type="button" className="button list-more" onClick={() => setOlder(true)}>
          Show older jobs
        </button>
      )}
    </>
  )
}

/** Merges fetched jobs with live rows; a live row is newer and replaces the fetched one. */
function mergeJobs(fetched: readonly JobView[], live: ReadonlyMap<string, JobView>): JobView[] {
  return sortJobs(new Map([...fetched.map((job) => [job.job_id, job] as const), ...live]).values())
}

const COLUMNS: readonly Column<JobView>[] = [
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
  { id: 'age', head: 'Started', figure: true, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]

function JobTable({ jobs, caption }: { jobs: readonly JobView[]; caption: string }) {
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

function JobName({ job }: { job: JobView }) {
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

/** The job's last sessions as small gauges, newest last. */
function Chain({ job: { sessions } }: { job: JobView }) {
  if (sessions.length === 0) return <span className="quiet none">{UNKNOWN_TEXT}</span>
  const hidden = Math.max(0, sessions.length - SHOWN)
  return (
    <span className="chain-small">
      {hidden > 0 && (
        <span className="quiet" title={`${countedNoun(hidden, 'earlier session')}`}>
          +{hidden}
        </span>
      )}
      {sessions.slice(-SHOWN).map((session) => (
        <Gauge key={session.session_id} figures={session} size="slim" label={`Session ${session.number}`} />
      ))}
    </span>
  )
}

function Spend({ job }: { job: JobView }) {
  const { cost_usd: cost } = job.spend
  return cost === null ? `${tokensText(spentTokens(job))} tokens` : moneyText(cost)
}

function ChecksShort({ job }: { job: JobView }) {
  const [last] = roundsOf(job.checks)
  if (last === undefined) return <span className="quiet none">{UNKNOWN_TEXT}</span>
  const text = last.failed === 0 ? `${last.checks.length} passed` : `${last.failed} of ${last.checks.length} failed`
  return (
    <span className="check-short" data-ok={last.failed === 0} title={`Round ${last.round}`}>
      {text}
    </span>
  )
}

/** Button that starts a job in a known project: with a named agent, or with a task alone. */
function StartJob() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button primary" data-act="start-job" onClick={() => setOpen(true)}>
        Start a job
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Start a job">
        <ChooseAgent onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

function ChooseAgent({ onClose }: { onClose: () => void }) {
  const { data, problem, loading, refetch } = useCall('projects', {})
  if (problem !== null) return <Problem problem={problem} retry={refetch} />
  if (loading || data === null) return <Skeleton lines={4} />
  const usable = data.projects.filter(({ trouble }) => trouble === null)
  const broken = data.projects.filter(({ trouble }) => trouble !== null)
  if (usable.length > 0) return <StartForm projects={usable} onClose={onClose} />
  return (
    <div className="stack">
      {broken.map(({ project, trouble }) => (
        <Problem
          key={project}
          problem={{ error: `Cannot read the agents of ${project}.`, hint: trouble ?? undefined }}
        />
      ))}
      <p>
        The page starts jobs only in folders in which Baton has seen a session. Start a session in your project first,
        or start the job in a terminal there:
      </p>
      <ShellCommand text="baton run --prompt 'Fix the failing tests'" />
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  )
}

const PERMISSION_MODES = ['acceptEdits', 'bypassPermissions', 'dontAsk', 'plan', 'default'] as const

const NOBODY_TO_ASK = 'Nobody can answer questions in a job: calls that the client’s settings do not allow are denied.'

/** Explains the permission modes. A job has no user who could allow a call. */
const MODE_TEXTS: Readonly<Record<string, string>> = {
  '': NOBODY_TO_ASK,
  default: NOBODY_TO_ASK,
  acceptEdits: 'The agent may edit files in the project. Other calls need a rule in the client’s settings.',
  bypassPermissions: 'The agent may do everything, including any command. Use it only where that can do no harm.',
  dontAsk: 'Calls that the client’s settings do not allow are denied.',
  plan: 'The agent reads and plans, but changes nothing.',
}

function StartForm({ projects, onClose }: { projects: Projects['projects']; onClose: () => void }) {
  const [project, setProject] = useState(projects[0]!)
  const [agent, setAgent] = useState(projects[0]!.agents[0] ?? null)
  const [mode, setMode] = useState('')
  const [trouble, setTrouble] = useState<ProblemView | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const readField = (name: string): string | null => String(form.get(name) ?? '').trim() || null
    if (agent?.has_prompt !== true && readField('prompt') === null)
      return setTrouble({
        error:
          agent === null ? 'Write the task first.' : `The agent ${agent.name} has no task in baton.yaml: write one.`,
      })
    setBusy(true)
    try {
      const body = {
        project: project.project,
        agent: agent?.name ?? null,
        prompt: readField('prompt'),
        work_item: readField('work_item'),
        permission_mode: PERMISSION_MODES.find((one) => one === mode) ?? null,
      }
      const job = await callApi('startJob', { body })
      showToast('The job has started')
      navigate(jobHref(job.job_id))
    } catch (error) {
      setTrouble(problemFrom(error))
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>Project</span>
        <select
          value={project.project}
          onChange={({ target }) => {
            const next = projects.find((each) => each.project === target.value) ?? project
            setProject(next)
            setAgent(next.agents[0] ?? null)
          }}
        >
          {projects.map((each) => (
            <option key={each.project} value={each.project}>
              {folderName(each.project)} – {each.project}
            </option>
          ))}
        </select>
      </label>
      {project.agents.length > 0 && (
        <label className="field">
          <span>Agent</span>
          <select
            value={agent?.name ?? ''}
            onChange={({ target }) => setAgent(project.agents.find(({ name }) => name === target.value) ?? null)}
          >
            {project.agents.map(({ name, model }) => (
              <option key={name} value={name}>
                {model === null ? name : `${name} (${model})`}
              </option>
            ))}
            <option value="">No named agent, only the task below</option>
          </select>
        </label>
      )}
      <label className="field">
        <span>Task{agent?.has_prompt ? ' (replaces the one in baton.yaml)' : ''}</span>
        <textarea
          name="prompt"
          rows={4}
          maxLength={100_000}
          placeholder={agent?.has_prompt ? 'The task in baton.yaml' : undefined}
        />
      </label>
      <label className="field">
        <span>Work item (optional)</span>
        <input name="work_item" maxLength={200} placeholder="LIN-42" autoComplete="off" />
      </label>
      <label className="field">
        <span>Permission mode</span>
        <select value={mode} onChange={({ target }) => setMode(target.value)} aria-describedby="mode-help">
          <option value="">
            {agent?.permission_mode ? `${agent.permission_mode} (from baton.yaml)` : 'Default of the client'}
          </option>
          {PERMISSION_MODES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <span className="quiet field-note" id="mode-help">
          {MODE_TEXTS[mode || (agent?.permission_mode ?? '')] ?? MODE_TEXTS['']}
        </span>
      </label>
      {trouble !== null && <Problem problem={trouble} />}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={busy}>
          Start the job
        </button>
      </div>
    </form>
  )
}

const EXAMPLE = `agents:
  - name: coder
    prompt: Make the tests pass, then say that you are done.
    permission_mode: acceptEdits
    workspace: { strategy: git_worktree }
    checks: [npm test]
    budgets: { usd: 5 }
`

/** Explains the two ways to start a first job. */
function HowToStart() {
  return (
    <>
      <p>A job works on one task in as many sessions as it needs. It is done only when your checks pass.</p>
      <ShellCommand text={'baton run --prompt "Make the tests pass." --check "npm test"'} />
      <p>
        Give an agent that you use often a name in the project’s <code>baton.yaml</code>. Then{' '}
        <code>baton run coder</code>, or the button above, starts a job with it:
      </p>
      <YamlExample />
    </>
  )
}

function YamlExample() {
  return (
    <figure className="sample">
      <figcaption>
        <code>baton.yaml</code>
        <CopyButton text={EXAMPLE} label="example" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
      <pre tabIndex={0}>{EXAMPLE}</pre>
    </figure>
  )
}
