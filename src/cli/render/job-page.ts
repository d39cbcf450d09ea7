import type { JobLogLine, JobView } from '../../contract/api/jobs.js'
import type { Event } from '../../contract/records/event.js'
import type { CheckSpec, JobRecord } from '../../contract/records/job.js'
import { formatCount } from '../../lib/format-count.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { formatTokens } from '../../policy/numbers.js'
import type { Call, Cli } from '../command.js'
import { attemptText, checkAtWork, jobEventLine, progressLine, shortFigures } from './job-event.js'
import { logPrinter, readLogLine } from './job-log-lines.js'
import { type Colour, type Paint, type Screen, screenOf } from './screen.js'
import { type Column, table } from './table.js'
import { ageText, cutToWidth, elapsedText, localTime, localTimestamp, widthOf, wrap } from './text.js'

const COLOURS: Partial<Record<JobView['status'], Colour>> = {
  completed: 'green',
  failed: 'red',
  cancelled: 'red',
  running: 'cyan',
  'handing-off': 'cyan',
  waiting: 'yellow',
  paused: 'yellow',
}

/** Time that a background process needs until it has claimed its job. */
const STARTS_MS = 10_000

/** True for a job with an active status whose process died or never started. */
function isLost({ status: state, runner, created_at }: JobView, now: Date): boolean {
  if (['completed', 'failed', 'cancelled', 'paused'].includes(state)) return false
  if (runner === null && state === 'pending') return now.getTime() - Date.parse(created_at) > STARTS_MS
  return runner === null || !runner.alive
}

const DIED = 'process died'

function statusText(job: JobView, paint: Paint, now: Date): string {
  return isLost(job, now) ? paint(`${job.status}, ${DIED}`, 'red') : paint(job.status, COLOURS[job.status] ?? 'bold')
}

export function jobTable(jobs: readonly JobView[], screen: Screen, now: Date): string[] {
  const columns: Column<JobView>[] = [
    { title: 'JOB', cell: ({ job_id }) => job_id, dropAt: 0 },
    {
      title: 'STATUS',
      cell: (job) => (isLost(job, now) ? screen.paint(DIED, 'red') : statusText(job, screen.paint, now)),
      dropAt: 0,
    },
    { title: 'AGENT', cell: ({ agent }) => replaceControls(agent ?? '–'), dropAt: 3, shrinkTo: 8 },
    { title: 'STEPS', cell: ({ steps }) => String(steps), dropAt: 4, align: 'right' },
    {
      title: 'HANDOFFS',
      cell: ({ handoffs, max_handoffs }) => `${handoffs}/${max_handoffs}`,
      dropAt: 5,
      align: 'right',
    },
    { title: 'COST', cell: ({ spend }) => cost(spend.cost_usd), dropAt: 6, align: 'right' },
    { title: 'AGE', cell: ({ created_at }) => ageText(created_at, now), dropAt: 2, align: 'right' },
    { title: 'TITLE', cell: ({ title }) => replaceControls(title ?? '–'), dropAt: 1, shrinkTo: 14 },
  ]
  const isAny = jobs.some((job) => isLost(job, now))
  const hint = isAny ? [screen.paint(`To continue jobs whose ${DIED}: baton jobs resume`, 'dim')] : []
  return [...table(jobs, columns, screen.columns, screen.paint), ...hint]
}

export function jobPage(job: JobView & { files: string }, { paint, columns }: Screen, now: Date): string[] {
  const row = (name: string, value: string | null): string[] =>
    value === null ? [] : wrap(`${paint(name.padEnd(11), 'dim')} ${replaceControls(value)}`, columns, 12)
  const sessions = job.sessions.map((one) => {
    const tokens = (count: number | null): string => (count === null ? '–' : formatTokens(count))
    const parts = [
      `${formatCount(one.steps, 'step')}, ${tokens(one.used_tokens)} of ${tokens(one.compaction_tokens)} tokens`,
      ...(one.compactions > 0 ? [formatCount(one.compactions, 'compaction')] : []),
      ...(one.brief_id === null ? [] : [`started with ${one.brief_id}`]),
    ]
    return `  ${one.number}. ${one.session_id}  ${parts.join(', ')}`
  })
  const reason = job.exit_reason && job.exit_reason !== 'success' ? ` (${job.exit_reason})` : ''
  return [
    `${paint(job.job_id, 'bold')}  ${statusText(job, paint, now)}${reason}`,
    ...row('detail', job.detail),
    ...row('task', firstLine(job.prompt)),
    ...row('agent', job.agent),
    ...row('work item', job.work_item),
    ...row('seat', job.seat_id),
    ...row('folder', job.folder),
    ...row('branch', job.branch_name),
    ...row('started', job.started_at && localTimestamp(job.started_at)),
    ...row('ended', job.ended_at && localTimestamp(job.ended_at)),
    ...row('waiting', job.wait_until && `until ${localTimestamp(job.wait_until)}`),
    ...row('retries', job.retry && retryText(job.retry, now)),
    ...row('process', job.runner && `${job.runner.pid}${job.runner.alive ? '' : ' (died)'}`),
    ...row('permissions', job.permission_mode),
    ...row('denied', job.denied_calls === 0 ? null : deniedText(job)),
    ...row('spend', spendText(job)),
    ...row('files', job.files),
    ...(sessions.length > 0 ? [paint('sessions', 'dim'), ...sessions.flatMap((line) => wrap(line, columns, 5))] : []),
    ...(job.checks.length > 0 ? [paint('checks', 'dim'), ...checkLines(job, paint)] : []),
    ...hint(job, paint, now),
  ]
}

/** Renders the result of a job that has ended or paused, for the user. */
export function jobResultLines(job: JobView, { paint, columns }: Screen, now: Date): string[] {
  const result = (job.result ?? '').trim()
  const counts = [
    formatCount(job.sessions.length, 'session'),
    formatCount(job.handoffs, 'handoff'),
    formatCount(job.steps, 'step'),
    ...(job.compactions > 0 ? [formatCount(job.compactions, 'compaction')] : []),
    spendText(job),
    `${elapsedText(job.ran_ms)} of work`,
  ]
  return [
    ...(job.status === 'completed' && result !== '' ? [...result.split('\n').map(replaceControls), ''] : []),
    ...wrap(`${paint(job.job_id, 'bold')} ${statusText(job, paint, now)}: ${counts.join(', ')}`, columns, 2),
    ...(job.detail === null ? [] : wrap(replaceControls(job.detail), columns, 2)),
    ...checkLines(job, paint),
    ...hint(job, paint, now),
  ]
}

function checkLines({ checks }: JobView, paint: Paint): string[] {
  const last = Math.max(0, ...checks.map(({ round }) => round))
  return checks
    .filter(({ round }) => round === last)
    .map(({ name, ok, exit_code, timed_out, output_path }) =>
      ok
        ? `  ${paint('✓', 'green')} ${replaceControls(name)}`
        : `  ${paint('✗', 'red')} ${replaceControls(name)} ` +
          `(${timed_out ? 'timed out' : `exit ${exit_code ?? '–'}`}): ${output_path}`,
    )
}

/** Options that let a resumed job continue, by its end reason and a part of the reason's text. */
const MORE: Record<string, [words: string, option: string][]> = {
  max_turns: [['--budget-turns', '--budget-turns N']],
  max_budget: [
    ['tokens are spent', '--budget-tokens N'],
    ['--budget-usd', '--budget-usd X'],
  ],
  timeout: [
    ['--budget-minutes', '--budget-minutes N'],
    ['--max-handoffs', '--max-handoffs N'],
  ],
  max_handoffs: [['--max-handoffs', '--max-handoffs N']],
  refused: [
    ['--permission-mode acceptEdits', '--permission-mode acceptEdits'],
    ['--permission-mode bypassPermissions', '--permission-mode bypassPermissions'],
  ],
}

function hint(job: JobView, paint: Paint, now: Date): string[] {
  const { status: state, job_id, exit_reason, detail } = job
  const canResume = state === 'paused' || state === 'failed' || isLost(job, now)
  const more = MORE[exit_reason ?? '']?.find(([words]) => detail?.includes(words))?.[1]
  const command = `baton jobs resume ${job_id}${more === undefined ? '' : ` ${more}`}`
  return canResume ? [paint(`To continue: ${command}`, 'dim')] : []
}

function retryText({ reason, attempt, max_attempts, at }: NonNullable<JobView['retry']>, now: Date): string {
  return `${reason}: ${attemptText({ attempt, max_attempts, until: at }, now.getTime())}`
}

function deniedText({ denied_calls: calls, denied_edits: edits }: JobView): string {
  return `${calls} ${calls === 1 ? 'call' : 'calls'}, ${edits} of them ${edits === 1 ? 'an edit' : 'edits'}`
}

function spendText({ spend }: JobView): string {
  const all = spend.input_tokens + spend.output_tokens + spend.cache_creation_tokens + spend.cache_read_tokens
  return `${spend.cost_usd === null ? '' : `${cost(spend.cost_usd)}, `}${formatTokens(all)} tokens`
}

const cost = (usd: number | null): string => (usd === null ? '–' : `$${usd.toFixed(2)}`)

const firstLine = (text: string): string => cutToWidth(replaceControls(text.trim().split('\n', 1)[0] ?? ''), 100)

export interface JobDisplay {
  take(event: Event): void
  /** Shows a line that a client of the job wrote. */
  line(jobId: string, line: string): void
  /** Shows a sentence to the user in every display mode. */
  note(text: string): void
  /** Removes the live line. */
  end(): void
}

/** Width of `09:05:31 ` before an event. */
const AFTER_TIME = 9
/** Width of a step's line without a terminal. */
const LONGEST = 300
const ENDS: ReadonlySet<Event['type']> = new Set(['job_completed', 'job_failed', 'job_cancelled', 'job_paused'])

/**
 * Returns the live line between two figures, for a time in milliseconds.
 * Null when the event does not change it.
 */
function meanwhile({ type, data }: Event): ((now: number) => string) | null {
  switch (type) {
    case 'job_started':
      return () => 'The client starts … (Ctrl-C pauses)'
    case 'job_resumed':
      return () => 'The session resumes … (Ctrl-C pauses)'
    case 'job_waiting':
      return data.attempt ? (now) => `Waiting: ${attemptText(data, now)} (Ctrl-C pauses)` : null
    case 'handoff_started':
      return () => 'The session writes its brief …'
    case 'handoff_completed':
      return () => 'The next session starts …'
    case 'handoff_cancelled':
      return () => 'The same session continues …'
    case 'check_started':
      return () => `${checkAtWork(data)} …`
    case 'checks_completed':
      return () => (data.next === 'agent' ? 'The agent is told which checks failed …' : 'The job ends …')
    default:
      return null
  }
}

/** The contents of the live line, which is redrawn in place. */
interface Live {
  jobId: string
  /** Figures of the last step; null before the first. */
  progress: Event | null
  /** The work of Baton or the client between two figures. Null while the agent works. */
  doing: ((now: number) => string) | null
}

/**
 * Creates the display of running jobs.
 * On a terminal it prints a line for each step and event.
 * Below these, one live line shows elapsed time, running call, fullness and cost.
 * Without a terminal, prints plain lines.
 * With `--output-format stream-json`, prints each event as JSON, on a terminal too.
 * With `--json` or `--quiet`, prints only notes.
 */
export function makeJobDisplay(cli: Cli, call: Call, jobs: readonly JobRecord[]): JobDisplay {
  const note = (text: string): void => cli.note(text)
  if (call.value('output-format') === 'stream-json')
    return { take: (event) => cli.print(JSON.stringify(event)), line() {}, note, end() {} }
  if (call.json || call.flag('quiet')) return { take() {}, line() {}, note, end() {} }
  const { paint, terminal } = cli.screen
  const several = jobs.length > 1
  const verbose = call.flag('verbose')
  const begun = cli.now().getTime()
  const elapsed = (): string => paint(elapsedText(cli.now().getTime() - begun), 'dim')
  const lead = (jobId: string): string => (several ? `${paint(jobId, 'dim')} ` : '')
  const specs = new Map(jobs.map(({ jobId, spec }) => [jobId, spec]))
  const steps = new Map(
    jobs.map(({ jobId, spec, workspace }) => [jobId, new StepLines(workspace?.folder ?? spec.folder)]),
  )
  // The result of a single job is printed in more detail at its end.
  const linesOf = (event: Event): string[] => {
    const line = !several && ENDS.has(event.type) ? null : jobEventLine(event, paint)
    const { checks = [] } = specs.get(event.job_id!) ?? {}
    const begins = event.type === 'job_started' || event.type === 'job_resumed'
    return [
      ...(line === null ? [] : [line]),
      ...(begins && checks.length > 0 ? [checksAhead(event, checks, paint)] : []),
    ]
  }
  /** Returns the displayed part of a client's line. */
  const shown = (jobId: string, line: string, columns: number): string[] => {
    const { agent } = specs.get(jobId)!
    const now = cli.now()
    const ended = steps
      .get(jobId)!
      .take(readLogLine(line, agent), now.getTime(), { paint, columns: columns - AFTER_TIME })
    if (verbose) return logPrinter(agent, { ...cli.screen, columns }, now.toISOString(), 'whole')(line)
    return ended.map((text) => `${paint(localTime(now), 'dim')} ${text}`)
  }
  if (!terminal) {
    const figures = new Map<string, string>()
    return {
      take(event) {
        const jobId = event.job_id!
        if (event.type !== 'job_progress') {
          for (const line of linesOf(event)) cli.print(`${lead(jobId)}${line}`)
          return
        }
        // Two batches that return together are measured by the same answer.
        const text = progressLine(event, paint)
        if (figures.get(jobId) === text) return
        figures.set(jobId, text)
        cli.print(`${lead(jobId)}${elapsed()} ${text}`)
      },
      line(jobId, line) {
        for (const text of shown(jobId, line, LONGEST)) cli.print(`${lead(jobId)}${text}`)
      },
      note,
      end() {},
    }
  }
  let live: Live | null = null
  const { stdout } = process
  const columns = (): number => screenOf(stdout, cli.env).columns - 1
  const draw = (): void => {
    if (live === null) return
    // Leave two cells for the `^C` that the terminal prints: a wrapped line cannot be erased.
    const room = columns() - 2
    stdout.write(`\r\u001b[K${cutToWidth(liveLine(live, room), room)}`)
  }
  const liveLine = ({ jobId, progress, doing }: Live, width: number): string => {
    const start = `${lead(jobId)}${elapsed()} `
    const room = width - widthOf(start)
    const running = steps.get(jobId)!.running()
    if (running !== null) {
      const figures = progress === null ? '' : ` · ${shortFigures(progress)}`
      return `${start}${cutToWidth(running, Math.max(20, room - widthOf(figures)))}${figures}`
    }
    if (doing !== null) return `${start}${paint(doing(Date.now()), 'dim')}`
    return progress === null ? start : `${start}${progressLine(progress, paint, room, Date.now())}`
  }
  const above = (text: string, indent = 0): void => {
    stdout.write(`\r\u001b[K${wrap(text, columns(), indent).join('\n')}\n`)
    draw()
  }
  const update = (jobId: string, change: Partial<Live>): void => {
    const known = live?.jobId === jobId ? live : { jobId, progress: null, doing: null }
    live = { ...known, ...change }
    draw()
  }
  stdout.on('resize', draw)
  const clock = setInterval(draw, 1_000)
  clock.unref()
  return {
    take(event) {
      const jobId = event.job_id!
      if (event.type === 'job_progress') {
        update(jobId, { progress: event, doing: null })
        return
      }
      // The running check is shown in the live line.
      if (event.type !== 'check_started') for (const line of linesOf(event)) above(`${lead(jobId)}${line}`, AFTER_TIME)
      const doing = meanwhile(event)
      if (doing === null) return
      // Calls that were running belonged to the previous session.
      steps.get(jobId)?.clear()
      update(jobId, { doing })
    },
    line(jobId, line) {
      const width = columns() - widthOf(lead(jobId))
      for (const text of shown(jobId, line, width)) above(`${lead(jobId)}${text}`)
      update(jobId, steps.get(jobId)!.running() === null ? {} : { doing: null })
    },
    note: (text) => above(text),
    end() {
      stdout.off('resize', draw)
      clearInterval(clock)
      if (live !== null) stdout.write('\r\u001b[K')
      live = null
    },
  }
}

function checksAhead({ at }: Event, checks: readonly CheckSpec[], paint: Paint): string {
  const names = checks.map(({ name }) => cutToWidth(replaceControls(name.replace(/\s+/g, ' ')), 60)).join(', ')
  return `${paint(localTime(new Date(at)), 'dim')} ${formatCount(checks.length, 'check')} must pass: ${names}`
}

/** Shorter durations are not shown. */
const SHOWN_FROM_MS = 1_000

/** The calls of one job: the running ones, and one line for each that has returned. */
export class StepLines {
  private readonly callsUnderWay = new Map<string, { text: string; since: number }>()

  /** Paths below `folder` are shown relative to it. */
  constructor(private readonly folder: string) {}

  /** Returns Baton's own lines, and one for each call whose result is in `lines`. */
  take(lines: readonly JobLogLine[], now: number, { paint, columns }: Pick<Screen, 'paint' | 'columns'>): string[] {
    return lines.flatMap(({ kind, text, ok, call_id: id }) => {
      if (kind === 'baton') return [cutToWidth(text, columns)]
      if (id === undefined) return []
      if (kind === 'call') this.callsUnderWay.set(id, { text: this.short(text), since: now })
      const call = this.callsUnderWay.get(id)
      if (kind !== 'result' || call === undefined) return []
      this.callsUnderWay.delete(id)
      const took = now - call.since
      const time = took < SHOWN_FROM_MS ? '' : paint(` (${Math.round(took / 1000)} s)`, 'dim')
      if (ok) return [cutToWidth(`${paint('✓', 'green')} ${call.text}${time}`, columns)]
      // Keep half of the line for the reason, however long the call is.
      const named = cutToWidth(call.text, Math.floor(columns / 2))
      return [cutToWidth(`${paint('✗', 'red')} ${named}${time}${paint(`: ${flat(text)}`, 'dim')}`, columns)]
    })
  }

  /** Returns the newest running call and the number of others. Null when none runs. */
  running(): string | null {
    const newest = [...this.callsUnderWay.values()].at(-1)
    if (newest === undefined) return null
    const others = this.callsUnderWay.size - 1
    return `→ ${newest.text}${others === 0 ? '' : ` (and ${others} more)`}`
  }

  /** Drops all running calls, because their client has exited. */
  clear(): void {
    this.callsUnderWay.clear()
  }

  private short(text: string): string {
    return flat(text).replaceAll(`${this.folder}/`, '')
  }
}

const flat = (text: string): string => replaceControls(text.replace(/\s+/g, ' ').trim())
