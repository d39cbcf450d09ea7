import type { JobView } from '../../jobs/view-job.js'
import { grouped } from '../../policy/numbers.js'
import type { Colour, Paint, Screen } from './screen.js'
import { type Column, table } from './table.js'
import { age, stamp } from './times.js'
import { cut, harmless } from './width.js'
import { wrap } from './wrap.js'

const COLOURS: Partial<Record<JobView['status'], Colour>> = {
  completed: 'green',
  failed: 'red',
  cancelled: 'red',
  running: 'cyan',
  'handing-off': 'cyan',
  waiting: 'yellow',
  paused: 'yellow',
}

/** In the background its process needs a moment until it has taken the job. */
const STARTS_MS = 10_000

/** A job that says it runs while nobody runs it was cut off. */
function isLost({ status: state, runner, created_at }: JobView, now: Date): boolean {
  if (['completed', 'failed', 'cancelled', 'paused'].includes(state)) return false
  if (runner === null && state === 'pending') return now.getTime() - Date.parse(created_at) > STARTS_MS
  return runner === null || !runner.alive
}

function status(job: JobView, paint: Paint, now: Date, lost: string): string {
  return isLost(job, now) ? paint(`${job.status}, ${lost}`, 'red') : paint(job.status, COLOURS[job.status] ?? 'bold')
}

export function jobTable(jobs: readonly JobView[], screen: Screen, now: Date): string[] {
  const columns: Column<JobView>[] = [
    { title: 'JOB', cell: ({ job_id }) => job_id, dropAt: 0 },
    { title: 'STATUS', cell: (job) => status(job, screen.paint, now, 'lost'), dropAt: 0 },
    { title: 'AGENT', cell: ({ agent }) => harmless(agent ?? '–'), dropAt: 3, shrinkTo: 8 },
    { title: 'STEPS', cell: ({ steps }) => String(steps), dropAt: 4, align: 'right' },
    { title: 'HANDOFFS', cell: ({ handoffs, max_handoffs }) => `${handoffs}/${max_handoffs}`, dropAt: 5, align: 'right' },
    { title: 'COST', cell: ({ spend }) => cost(spend.cost_usd), dropAt: 6, align: 'right' },
    { title: 'AGE', cell: ({ created_at }) => age(created_at, now), dropAt: 2, align: 'right' },
    { title: 'TASK', cell: ({ prompt, work_item }) => firstLine(work_item ?? prompt), dropAt: 1, shrinkTo: 12 },
  ]
  const isAny = jobs.some((job) => isLost(job, now))
  const hint = isAny ? [screen.paint('lost: nobody runs it any more; baton jobs resume goes on', 'dim')] : []
  return [...table(jobs, columns, screen.columns, screen.paint), ...hint]
}

const NOBODY = 'nobody runs it'

export function jobPage(job: JobView & { files: string }, { paint, columns }: Screen, now: Date): string[] {
  const row = (name: string, value: string | null): string[] =>
    value === null ? [] : wrap(`${paint(name.padEnd(11), 'dim')} ${harmless(value)}`, columns, 12)
  const sessions = job.sessions.map(
    ({ session_id, number, used_tokens, compaction_tokens, steps, brief_id, compactions }) =>
      `  ${number}. ${session_id}  ${steps} steps, ${used_tokens === null ? '–' : grouped(used_tokens)} of ${compaction_tokens === null ? '–' : grouped(compaction_tokens)} tokens${compactions > 0 ? `, compacted ${compactions} times` : ''}${brief_id === null ? '' : `, begun with ${brief_id}`}`,
  )
  return [
    `${paint(job.job_id, 'bold')}  ${status(job, paint, now, NOBODY)}${job.exit_reason && job.exit_reason !== 'success' ? ` (${job.exit_reason})` : ''}`,
    ...row('detail', job.detail),
    ...row('task', firstLine(job.prompt)),
    ...row('agent', job.agent),
    ...row('work item', job.work_item),
    ...row('seat', job.seat_id),
    ...row('folder', job.folder),
    ...row('branch', job.branch_name),
    ...row('started', job.started_at && stamp(job.started_at)),
    ...row('ended', job.ended_at && stamp(job.ended_at)),
    ...row('waits', job.wait_until && `until ${stamp(job.wait_until)}`),
    ...row('runner', job.runner && `process ${job.runner.pid}${job.runner.alive ? '' : ', which is gone'}`),
    ...row('spend', spendText(job)),
    ...row('files', job.files),
    ...(sessions.length > 0 ? [paint('sessions', 'dim'), ...sessions.flatMap((line) => wrap(line, columns, 5))] : []),
    ...(job.checks.length > 0 ? [paint('checks', 'dim'), ...checkLines(job, paint)] : []),
    ...hint(job, paint, now),
  ]
}

/** What a person reads when a job has come to its end, or to a pause. */
export function endLines(job: JobView, { paint, columns }: Screen, now: Date): string[] {
  const result = (job.result ?? '').trim()
  const counts = [
    `${job.sessions.length} ${job.sessions.length === 1 ? 'session' : 'sessions'}`,
    `${job.handoffs} ${job.handoffs === 1 ? 'handoff' : 'handoffs'}`,
    `${job.steps} ${job.steps === 1 ? 'step' : 'steps'}`,
  ]
  return [
    ...(job.status === 'completed' && result !== '' ? [...result.split('\n').map(harmless), ''] : []),
    ...wrap(
      `${paint(job.job_id, 'bold')} ${status(job, paint, now, NOBODY)}: ${[...counts, ...(job.compactions > 0 ? [`${job.compactions} compactions`] : []), spendText(job)].join(', ')}`,
      ...([columns, 2] as const),
    ),
    ...(job.detail === null ? [] : wrap(harmless(job.detail), columns, 2)),
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
        ? `  ${paint('✓', 'green')} ${harmless(name)}`
        : `  ${paint('✗', 'red')} ${harmless(name)} (${timed_out ? 'did not end' : `exit ${exit_code ?? '–'}`}): ${output_path}`,
    )
}

/** What it needs more of, by the words of its end. */
const MORE: Record<string, [words: string, option: string][]> = {
  max_turns: [['--budget-turns', '--budget-turns N']],
  max_budget: [
    ['tokens are spent', '--budget-tokens N'],
    ['--budget-usd', '--budget-usd X'],
  ],
  timeout: [['--budget-minutes', '--budget-minutes N']],
  max_handoffs: [['--max-handoffs', '--max-handoffs N']],
}

function hint(job: JobView, paint: Paint, now: Date): string[] {
  const { status: state, job_id, exit_reason, detail } = job
  const goesOn = state === 'paused' || state === 'failed' || isLost(job, now)
  const more = MORE[exit_reason ?? '']?.find(([words]) => detail?.includes(words))?.[1]
  return goesOn ? [paint(`Go on with: baton jobs resume ${job_id}${more === undefined ? '' : ` ${more}`}`, 'dim')] : []
}

function spendText({ spend }: JobView): string {
  const all = spend.input_tokens + spend.output_tokens + spend.cache_creation_tokens + spend.cache_read_tokens
  return `${cost(spend.cost_usd)}${spend.cost_usd === null ? '' : ', '}${spend.cost_usd === null ? ` ${grouped(all)}` : grouped(all)} tokens`.replace(
    '– ',
    '',
  )
}

const cost = (usd: number | null): string => (usd === null ? '–' : `$${usd.toFixed(2)}`)

const firstLine = (text: string): string => cut(harmless(text.trim().split('\n', 1)[0] ?? ''), 100)
