import type { DeliveryMode } from '../../contract/level.js'
import type { Event } from '../../contract/records/event.js'
import type { HandoffWay } from '../../contract/records/handoff.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { archiveTriggerText } from '../../policy/archive-trigger-text.js'
import { formatTokens, percentText } from '../../policy/numbers.js'
import { percentOf } from '../../policy/percent.js'
import { jobEventText, progressLine } from './job-event.js'
import { type Colour, type Paint, plain } from './screen.js'
import { bytesText, cutToWidth, localDay, localTime, localTimestamp, padEnd, utcOffset } from './text.js'

/** Display names of events, in two or three words. */
const NAMES: Record<Event['type'], string> = {
  session_started: 'session started',
  session_ended: 'session ended',
  reading: 'reading',
  cycle_started: 'cycle started',
  level_crossed: 'level reached',
  context_warning: 'warning',
  compaction_start: 'compaction started',
  compaction_complete: 'compaction ended',
  archive_created: 'archived',
  loss_report: 'loss report',
  recovery_delivered: 'facts told again',
  handoff_requested: 'handoff requested',
  handoff_started: 'handoff started',
  handoff_completed: 'handoff completed',
  handoff_failed: 'handoff failed',
  handoff_cancelled: 'handoff cancelled',
  message_queued: 'message queued',
  message_delivered: 'message delivered',
  message_cancelled: 'message cancelled',
  job_started: 'job started',
  job_progress: 'job progress',
  job_session: 'job session',
  job_waiting: 'job waiting',
  job_paused: 'job paused',
  job_resumed: 'job resumed',
  job_completed: 'job completed',
  job_failed: 'job failed',
  job_cancelled: 'job cancelled',
  check_started: 'check started',
  check_completed: 'check ended',
  checks_completed: 'checks ended',
  guard_tripped: 'guard tripped',
  silence_alarm: 'no readings',
}
const NAME_WIDTH = Math.max(...Object.values(NAMES).map((name) => name.length))

const COLOURS: Partial<Record<Event['type'], Colour>> = {
  level_crossed: 'yellow',
  context_warning: 'yellow',
  silence_alarm: 'red',
  guard_tripped: 'red',
  compaction_start: 'cyan',
  compaction_complete: 'cyan',
  archive_created: 'cyan',
  loss_report: 'cyan',
  recovery_delivered: 'green',
  handoff_requested: 'cyan',
  handoff_started: 'cyan',
  handoff_completed: 'green',
  handoff_failed: 'red',
  session_started: 'bold',
  session_ended: 'bold',
  reading: 'dim',
  message_queued: 'dim',
  message_delivered: 'dim',
  message_cancelled: 'dim',
}

/**
 * Renders an event in one line.
 * In a pipe each line has its full time; on a terminal the day is a heading.
 */
export function eventLine(event: Event, options: { paint: Paint; fullTime: boolean; session: boolean }): string {
  const time = options.fullTime ? localTimestamp(event.at) : localTime(new Date(event.at))
  const session = options.session
    ? `  ${padEnd(replaceControls((event.session_id ?? event.job_id ?? '–').slice(0, 8)), 8)}`
    : ''
  const what = options.paint(padEnd(NAMES[event.type] ?? event.type, NAME_WIDTH), COLOURS[event.type] ?? 'bold')
  return `${options.paint(time, 'dim')}${session}  ${what}  ${replaceControls(detail(event))}`.trimEnd()
}

/** Renders the heading above the first event of a day. */
export function dayLine(at: string, paint: Paint): string {
  const date = new Date(at)
  return paint(`${localDay(date)} (${utcOffset(date)})`, 'dim')
}

export function dayOf(at: string): string {
  return localDay(new Date(at))
}

function detail(event: Event): string {
  const { type, data } = event
  switch (type) {
    case 'reading':
      return list([
        tokens(data.used_tokens),
        ofPoint(data.compaction_percent),
        words(data.source),
        data.exact === false ? 'estimated' : null,
      ])
    case 'level_crossed':
      return list([
        text(data.level),
        data.at_tokens === null ? null : `at ${tokens(data.at_tokens)}`,
        `used ${tokens(data.used_tokens)}`,
        ofPoint(data.compaction_percent),
      ])
    case 'context_warning':
      return list([names(data.levels), `used ${tokens(data.usedTokens)}`, ofPoint(warnedPercent(data))])
    case 'compaction_start':
      return list([trigger(data), ofPoint(data.contextUsedPercent)])
    case 'compaction_complete':
      return list([text(data.outcome), trigger(data), `${tokens(data.tokensBefore)} → ${tokens(data.tokensAfter)}`])
    case 'archive_created':
      return list([
        typeof data.trigger === 'string' ? archiveTriggerText(data.trigger) : null,
        typeof data.bytes === 'number' ? bytesText(data.bytes) : null,
        data.subagents ? `and ${count(data.subagents, 'subagent')}` : null,
        text(data.archive_id),
      ])
    case 'loss_report':
      return list([
        `facts kept ${text(data.facts_kept) ?? '–'} of ${text(data.facts) ?? '–'}`,
        typeof data.put_back === 'number' && typeof data.facts === 'number' && data.put_back > 0
          ? `${data.put_back} of ${data.facts - Number(data.facts_kept)} lost ones put back`
          : null,
        lostKinds(data.by_kind),
        firstLost(data.lost),
      ])
    case 'recovery_delivered':
      return list([count(data.facts, 'fact'), data.step === 2 ? 'missing from the summary' : 'with the next request'])
    case 'cycle_started':
      return list([`cycle ${text(data.cycle) ?? '–'}`, words(data.reason)])
    case 'session_started':
      return list([words(data.source), text(data.model), text(data.cwd)])
    case 'session_ended':
      return words(data.reason) ?? ''
    case 'message_queued':
      return list([text(data.category), words(data.mode), text(data.message_id)])
    case 'message_delivered':
      return list([
        data.via ? `with ${text(data.via)}` : null,
        data.repeated ? 'repeated' : null,
        text(data.message_id),
      ])
    case 'message_cancelled':
      return list([text(data.reason), text(data.message_id)])
    case 'guard_tripped':
      return list([words(data.guard), text(data.reason)])
    case 'handoff_requested':
      return list([
        `handoff ${text(data.number) ?? '–'}`,
        data.cause === 'level' ? `by level ${text(data.level)}` : `by ${text(data.cause)}`,
        text(data.reason),
      ])
    case 'handoff_started':
    case 'handoff_completed':
      return list([`handoff ${text(data.handoffNumber) ?? '–'}`, way(data.way), sessions(data), text(data.brief_id)])
    case 'handoff_failed':
    case 'handoff_cancelled':
      return list([`handoff ${text(data.handoffNumber) ?? '–'}`, text(data.reason)])
    case 'silence_alarm':
      return `no reading for ${count(data.tool_calls, 'tool call')}, ${text(data.minutes)} min: run baton doctor`
    default:
      return jobDetail(event) ?? list(Object.entries(data).map(plainField))
  }
}

/**
 * Returns the details of a job event, without the job's state: the event's name tells it.
 * Null for other events.
 */
function jobDetail(event: Event): string | null {
  const { type, data } = event
  if (type === 'job_progress') return progressLine(event, plain)
  if (type === 'checks_completed' && data.next === 'completed')
    return `all checks passed in round ${text(data.round)} of ${text(data.rounds)}`
  if (type.startsWith('check') || type === 'job_session') return jobEventText(event) ?? ''
  if (!type.startsWith('job_')) return null
  return list([
    event.job_id,
    text(data.detail) ?? text(data.reason),
    typeof data.handoffs === 'number' ? count(data.handoffs, 'handoff') : null,
    data.until ? `until ${localTime(new Date(String(data.until)))}` : null,
  ])
}

/** Renders an unknown field of an event, with its key as words. */
function plainField([key, value]: [string, unknown]): string | null {
  if (value === null || typeof value === 'object') return null
  const words = key.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/_/g, ' ')
  return `${words.toLowerCase()} ${String(value)}`
}

/** The time at which a message reaches the agent, by its delivery mode. */
export const DELIVERY_MODES: Record<DeliveryMode, string> = {
  sequential: 'after the turn',
  important: 'at the next step',
  urgent: 'now',
}

/** Display names for values of clients and the store. */
const WORDS: Record<string, string> = {
  'status-line': 'from the status line',
  transcript: 'from the transcript',
  mod: 'from the plugin module',
  query: 'from a query',
  sdk: 'from the SDK',
  monitor: 'from another program',
  handoff: 'at a handoff',
  seen: 'first seen while it ran',
  startup: 'started',
  resume: 'resumed',
  clear: 'cleared',
  compact: 'compacted',
  fork: 'forked',
  prompt_input_exit: 'exited by the user',
  other: 'no reason reported',
  ...DELIVERY_MODES,
}
/** Returns where a reading comes from, such as `from the transcript`. */
export const sourceText = (source: string | null): string => words(source) ?? 'from an unknown source'

/** Returns the display name of a value, or the value itself if it has none. */
const words = (value: unknown): string | null => {
  const written = text(value)
  return written === null ? null : (WORDS[written] ?? written.replace(/_/g, ' '))
}

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
const list = (parts: (string | null)[]): string => parts.filter((part) => part !== null && part !== '').join(' · ')
const tokens = (value: unknown): string => (typeof value === 'number' ? formatTokens(value) : '–')
/**
 * The percentage that the other lines and the message of the same reading say. The field
 * `contextUsedPercent` is whole and ends at 100.
 */
const warnedPercent = ({ usedTokens, compactionTokens, contextUsedPercent }: Event['data']): unknown =>
  typeof usedTokens === 'number' && typeof compactionTokens === 'number'
    ? percentOf(usedTokens, compactionTokens)
    : contextUsedPercent

const ofPoint = (value: unknown): string | null => (typeof value === 'number' ? `${percentText(value)} full` : null)
const names = (value: unknown): string | null => (Array.isArray(value) ? value.join(', ') : null)
const trigger = ({ triggerReason, overflow, idle }: Record<string, unknown>): string =>
  idle
    ? 'while idle'
    : overflow
      ? 'after the API refused a request'
      : triggerReason === 'manual'
        ? 'manual'
        : 'automatic'
const count = (value: unknown, of: string): string => `${text(value) ?? '–'} ${of}${value === 1 ? '' : 's'}`

const WAYS: Record<HandoffWay, string> = {
  start: 'by a /clear or start of the user',
  mod: 'by the plugin module',
  tmux: 'by tmux',
}
const way = (value: unknown): string | null => {
  const written = text(value)
  return written === null ? null : (WAYS[written as HandoffWay] ?? written)
}
const sessions = ({ oldSessionId: old, newSessionId: fresh }: Record<string, unknown>): string | null =>
  fresh ? `${text(old)?.slice(0, 8) ?? '–'} → ${text(fresh)!.slice(0, 8)}` : null

/** Returns the number of lost facts of each kind. */
function lostKinds(kinds: unknown): string | null {
  if (typeof kinds !== 'object' || kinds === null) return null
  const lost = Object.entries(kinds as Record<string, { total?: number; kept?: number } | null>).flatMap(
    ([kind, one]) => {
      const missing = (one?.total ?? 0) - (one?.kept ?? 0)
      return missing > 0 ? [`${kind} ${missing}`] : []
    },
  )
  return lost.length === 0 ? null : `lost: ${lost.join(', ')}`
}

function firstLost(lost: unknown): string | null {
  const first: unknown = Array.isArray(lost) ? lost[0] : null
  return typeof first === 'object' && first !== null && 'text' in first
    ? `most needed: ${cutToWidth(String(first.text), 60)}`
    : null
}
