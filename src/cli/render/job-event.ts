import type { Event } from '../../contract/records/event.js'
import { formatCount } from '../../lib/format-count.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { formatTokens, percentText, shortenTokens as shortly } from '../../policy/numbers.js'
import { stepsForTokens } from '../../tracker/forecast.js'
import { fillBar } from './gauge.js'
import type { Paint } from './screen.js'
import { cutToWidth, localTime, widthOf } from './text.js'

/**
 * Renders a job's progress: step, fullness relative to the compaction point, handoffs, spend.
 * Adds the forecast of the next handoff.
 * A narrow terminal gets short figures before any is dropped.
 */
export function progressLine(
  { data, at }: Event,
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
  now = Date.parse(at),
): string {
  const used = figure(data.used_tokens)
  const point = figure(data.compaction_tokens)
  const percent = used !== null && point ? (used / point) * 100 : null
  const step = text(data.total_steps) ?? text(data.steps) ?? '–'
  const [handoffs, most] = [text(data.handoffs) ?? '–', text(data.max_handoffs) ?? '–']
  const waits = waitText(data, now)
  const denied = data.denied ? `${text(data.denied)} denied` : null
  const full = (figures: (tokens: number) => string): string | null => {
    if (percent === null) return used === null ? null : `${figures(used)} tokens`
    return `${figures(used!)} of ${figures(point!)} (${percentText(percent)})`
  }
  const near = percent === null ? full(shortly) : `${Math.round(percent)}% of ${shortly(point!)}`
  const counted = [`handoffs ${handoffs}/${most}`, forecast(data, 'short')].filter((part) => part !== null).join(', ')
  const forms = [
    () => [
      `step ${step}`,
      `session ${text(data.session) ?? '–'}`,
      full(formatTokens),
      `handoffs ${handoffs}/${most}`,
      spend(data, formatTokens),
      denied,
      waits ?? forecast(data, 'long'),
    ],
    () => [
      `step ${step}`,
      full(shortly),
      `handoffs ${handoffs}/${most}`,
      spend(data, shortly),
      denied,
      waits ?? forecast(data, 'long'),
    ],
    () => [`step ${step}`, near, counted, spend(data, shortly, 'short'), denied, waits],
    () => [
      `step ${step}`,
      percent === null ? near : `${Math.round(percent)}%`,
      counted,
      spend(data, shortly, 'short'),
      denied,
      waits,
    ],
  ]
  const lines = forms.map(
    (form, at) => () => `${at === forms.length - 1 ? '' : `${fillBar(percent, 10, paint)} `}${list(form())}`,
  )
  const fits = lines.find((line) => widthOf(line()) <= columns) ?? lines.at(-1)!
  return cutToWidth(fits(), columns)
}

/** Renders steps, fullness and spend in a few cells, for use beside other text. */
export function shortFigures({ data }: Event): string {
  const [used, point] = [figure(data.used_tokens), figure(data.compaction_tokens)]
  const percent = used !== null && point ? `${Math.round((used / point) * 100)}%` : null
  return list([`step ${text(data.total_steps) ?? text(data.steps) ?? '–'}`, percent, spend(data, shortly, 'short')])
}

function waitText({ waiting, background, ...retry }: Record<string, unknown>, now: number): string | null {
  if (waiting) return `${text(waiting)}: ${attemptText(retry, now)}`
  return background ? `waits for background work (${text(background)})` : null
}

function spend(
  { cost_usd, spent_tokens }: Record<string, unknown>,
  figures: (tokens: number) => string,
  form: 'long' | 'short' = 'long',
): string | null {
  const [cost, tokens] = [figure(cost_usd), figure(spent_tokens)]
  if (cost !== null) return `$${cost.toFixed(2)}`
  return tokens === null ? null : `${figures(tokens)} ${form === 'long' ? 'tokens spent' : 'spent'}`
}

function forecast(
  { full_at, used_tokens, compaction_tokens, tokens_per_step, handoffs, max_handoffs }: Record<string, unknown>,
  form: 'long' | 'short',
): string | null {
  const [end, used, each] = [figure(full_at), figure(used_tokens), figure(tokens_per_step)]
  if (end === null || used === null || each === null || each <= 0) return null
  const steps = stepsForTokens(end - used, each)
  // The client compacts a full session that is the job's last, or that a hook lets continue.
  const what = Number(handoffs) < Number(max_handoffs) && end !== compaction_tokens ? 'handoff' : 'compaction'
  if (form === 'short') return `${what === 'handoff' ? 'next' : what} ${steps === 0 ? 'now' : `in ${steps}`}`
  if (steps === 0) return `${what} now`
  return `${what} in about ${steps} ${steps === 1 ? 'step' : 'steps'}`
}

/** Returns `attempt 3 of 10 in 4 s`, counted down from `now`. Without a time, `attempt 3 of 10`. */
export function attemptText({ attempt, max_attempts, until }: Record<string, unknown>, now: number): string {
  const number = `attempt ${text(attempt) ?? '–'}${max_attempts ? ` of ${text(max_attempts)}` : ''}`
  const left = Math.ceil((Date.parse(String(until)) - now) / 1000)
  if (Number.isNaN(left)) return number
  return left > 0 ? `${number} in ${left} s` : `${number} now`
}

/** Renders a job event other than a step. Null when there is nothing to show. */
export function jobEventLine(event: Event, paint: Paint): string | null {
  const said = jobEventText(event)
  return said === null ? null : `${paint(localTime(new Date(event.at)), 'dim')} ${said}`
}

/** Renders the same text without the time. */
export function jobEventText({ type, data, job_id }: Event): string | null {
  const said = type === 'job_started' && job_id ? `${job_id} started` : sentence(type, data)
  return said === null ? null : replaceControls(said)
}

/** Returns the text of a job event. `hook` and `brief` are lines of a job's log, not events. */
function sentence(type: Event['type'] | 'hook' | 'brief', data: Record<string, unknown>): string | null {
  switch (type) {
    case 'brief': {
      const [score, bar] = [percentText(Number(data.coverage) * 100), percentText(Number(data.bar) * 100)]
      return `the brief covers ${score}, less than ${bar}: the session is asked once more`
    }
    case 'hook': {
      if (data.decision) return `hook decision: ${text(data.decision)} (${text(data.reason)})`
      const ended = data.error
        ? `failed: ${cutToWidth(String(data.error), 400)}`
        : `done in ${text(data.duration_ms)} ms`
      return `hook \`${text(data.name)}\` (${text(data.on)}) ${ended}`
    }
    case 'job_started':
      return 'started'
    case 'job_resumed':
      return 'resumed'
    case 'job_session':
      if (data.how === 'continued') return `continues session ${short(data.previous_session_id)}: ${text(data.reason)}`
      return (
        `starts a fresh session${data.how === 'brief' ? ' with the brief of the last one' : ''}: session ` +
        `${short(data.previous_session_id)} cannot be continued, because ${text(data.reason)}`
      )
    case 'job_waiting': {
      const until = data.until ? ` until ${localTime(new Date(String(data.until)))}` : ''
      const attempt = data.attempt ? ` (attempt ${text(data.attempt)} of ${text(data.max_attempts)})` : ''
      return `waits${until}: ${cutToWidth(text(data.reason) ?? '', 400)}${attempt}`
    }
    case 'handoff_started':
      return `handoff ${text(data.handoffNumber)}: the session writes its brief at ${tokens(data.inputTokens)} tokens`
    case 'handoff_completed': {
      const coverage = data.coverage === null ? '' : `, the brief covers ${percentText(Number(data.coverage) * 100)}`
      const sessions = `${short(data.oldSessionId)} → ${short(data.newSessionId)}`
      return `handoff ${text(data.handoffNumber)}: session ${sessions}${coverage}`
    }
    case 'handoff_failed':
      return `handoff ${text(data.handoffNumber)} failed: ${text(data.reason)}`
    case 'handoff_cancelled':
      return `handoff ${text(data.handoffNumber)} cancelled: ${text(data.reason)}`
    case 'level_crossed':
      // Levels of the configuration file are already on the session's timeline.
      return data.of_job === true
        ? `level ${text(data.level)}: the session has ${tokens(data.used_tokens)} tokens`
        : null
    case 'check_started':
      return checkAtWork(data)
    case 'check_completed':
      return `check ${data.ok === true ? 'passed' : 'failed'}: ${checkName(data)} (${checkEnd(data)})`
    case 'checks_completed':
      return roundText(data)
    case 'compaction_start':
      return 'the session compacts'
    case 'compaction_complete':
      return `compaction: ${text(data.outcome)}, ${tokens(data.tokensBefore)} → ${tokens(data.tokensAfter)}`
    case 'recovery_delivered':
      return `${formatCount(Number(data.facts), 'fact')} put back`
    case 'job_paused':
    case 'job_failed':
    case 'job_cancelled':
      return `${type.slice(4)}${data.detail ? `: ${cutToWidth(String(data.detail), 400)}` : ''}`
    case 'job_completed':
      return 'completed'
    default:
      return null
  }
}

/** Returns `check 1 of 2 runs: npm test (round 1 of 4)`. */
export function checkAtWork(data: Record<string, unknown>): string {
  const round = `round ${text(data.round)} of ${text(data.rounds)}`
  return `check ${text(data.number)} of ${text(data.of)} runs: ${checkName(data)} (${round})`
}

const checkName = ({ name }: Record<string, unknown>): string =>
  cutToWidth((text(name) ?? '–').replace(/\s+/g, ' '), 80)

function checkEnd({ ok, exit_code, timed_out, duration_ms }: Record<string, unknown>): string {
  const ms = figure(duration_ms) ?? 0
  const time = ms < 1_000 ? `${ms} ms` : `${(Math.round(ms / 100) / 10).toLocaleString('en-US')} s`
  if (ok === true) return time
  return timed_out === true ? `timed out after ${time}` : `exit ${text(exit_code) ?? '–'}, ${time}`
}

/** Returns the result of a round of checks. Null when all passed, because the job's end says so. */
function roundText({ round, rounds, failed, of, next }: Record<string, unknown>): string | null {
  if (next === 'completed') return null
  const left = Number(rounds) - Number(round)
  const then =
    next === 'agent' ? `the agent gets their output (${formatCount(left, 'round')} left)` : 'no round is left'
  return `${text(failed)} of ${text(of)} checks failed in round ${text(round)} of ${text(rounds)}: ${then}`
}

const figure = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
const tokens = (value: unknown): string => (typeof value === 'number' ? formatTokens(value) : '–')
const short = (value: unknown): string => text(value)?.slice(0, 8) ?? '–'
const list = (parts: (string | null)[]): string => parts.filter((part) => part !== null && part !== '').join(' · ')
