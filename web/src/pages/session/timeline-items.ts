import type { LossView } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { bytesText, countedNoun, groupedText, percentText, shortId } from '../../parts/format.js'
import { TRIGGER_TEXTS } from '../archive/archive-labels.js'

/** Entry of a session's timeline. All events of one compaction and its recovery form one entry. */
export type TimelineItem =
  | { kind: 'event'; key: number; at: string; event: Event }
  | { kind: 'warning'; key: number; at: string; event: Event }
  | CompactionItem

export interface CompactionItem {
  kind: 'compaction'
  key: number
  at: string
  /** Null when the start event is missing. */
  start: Event | null
  /** Null while the compaction runs. */
  complete: Event | null
  loss: LossView | null
  recoveries: readonly Event[]
}

/** Internal events that are shown only when all events are requested. */
const HIDDEN_EVENTS: ReadonlySet<Event['type']> = new Set([
  'reading',
  'message_queued',
  'message_delivered',
  'message_cancelled',
])
/** Events that are shown inside the entry of their compaction. */
const COMPACTION_EVENTS: ReadonlySet<Event['type']> = new Set(['loss_report', 'recovery_delivered'])

/** Returns the timeline's entries, newest first. `all` includes internal events. */
export function timelineItems(
  events: readonly Event[],
  losses: readonly LossView[],
  options: { all: boolean },
): TimelineItem[] {
  const items: TimelineItem[] = []
  const compactions = new Map<string, CompactionItem>()
  const warned = new Set(events.flatMap((event) => (event.type === 'context_warning' ? levelsOf(event) : [])))
  let open: CompactionItem | null = null
  for (const event of events) {
    const { id: key, at, type, data } = event
    if (type === 'compaction_start') {
      open = { kind: 'compaction', key, at, start: event, complete: null, loss: lossOf(losses, at), recoveries: [] }
      compactions.set(at, open)
      items.push(open)
    } else if (type === 'compaction_complete') {
      if (open === null) {
        items.push({
          kind: 'compaction',
          key,
          at,
          start: null,
          complete: event,
          loss: lossBefore(losses, at),
          recoveries: [],
        })
      } else open.complete = event
      open = null
    } else if (COMPACTION_EVENTS.has(type)) {
      const compaction = compactions.get(String(data.compaction_started_at))
      if (compaction === undefined) items.push({ kind: 'event', key, at, event })
      else if (type === 'recovery_delivered') compaction.recoveries = [...compaction.recoveries, event]
    } else if (type === 'context_warning') items.push({ kind: 'warning', key, at, event })
    else if (options.all || !isListedElsewhere(event, warned)) items.push({ kind: 'event', key, at, event })
  }
  return items.reverse()
}

/** True for a crossing whose warning is listed, and for a new cycle whose cause is listed. */
function isListedElsewhere(event: Event, warned: ReadonlySet<string>): boolean {
  if (event.type === 'level_crossed') return warned.has(`${event.data.level} ${minute(event.at)}`)
  if (event.type === 'cycle_started') return event.data.reason !== 'clear'
  // The curve shows how far each step of a job got.
  if (event.type === 'job_progress') return !event.data.waiting
  return HIDDEN_EVENTS.has(event.type)
}

function levelsOf({ data, at }: Event): string[] {
  const levels = Array.isArray(data.levels) ? data.levels : [data.level]
  return levels.map((level) => `${level} ${minute(at)}`)
}
const minute = (at: string): string => at.slice(0, 16)

const lossOf = (losses: readonly LossView[], startedAt: string): LossView | null =>
  losses.find((loss) => loss.compaction_started_at === startedAt) ?? null
const lossBefore = (losses: readonly LossView[], at: string): LossView | null =>
  losses.findLast((loss) => loss.compaction_started_at <= at) ?? null

/** Merges fetched and live events without duplicates, in the order of their ids. */
export function mergeEvents(fetched: readonly Event[], live: readonly Event[]): Event[] {
  const last = fetched.at(-1)?.id ?? 0
  const fresh = live.filter(({ id }) => id > last)
  return fresh.length === 0 ? [...fetched] : [...fetched, ...fresh]
}

/** Text of an event: a short sentence and details. Shown as plain text, never as markup. */
interface EventText {
  title: string
  detail: string
  /** Colour of the entry: `bad` for failures, `good` for successes. */
  tone: 'plain' | 'good' | 'bad'
}

export function eventText({ type, data }: Event): EventText {
  const say = (title: string, detail: (string | null)[] = [], tone: EventText['tone'] = 'plain'): EventText => ({
    title,
    detail: detail.filter((part) => part !== null && part !== '').join(' · '),
    tone,
  })
  switch (type) {
    case 'session_started':
      return say('Session started', [data.source === 'startup' ? null : clientWord(data.source), text(data.model)])
    case 'session_ended':
      return say('Session ended', [clientWord(data.reason)])
    case 'reading':
      return say(`${groupedText(number(data.used_tokens))} tokens used`, [
        ofPoint(data.compaction_percent),
        text(data.source),
      ])
    case 'cycle_started':
      return say(`Cycle ${text(data.cycle) ?? ''} started`, [text(data.reason)])
    case 'level_crossed':
      return say(data.level ? `Crossed level ${text(data.level)}` : 'Crossed a level', [
        ofPoint(data.compaction_percent),
      ])
    case 'archive_created':
      return say('Transcript kept', [
        TRIGGER_TEXTS[data.trigger as keyof typeof TRIGGER_TEXTS] ?? text(data.trigger),
        bytesText(number(data.bytes)),
        typeof data.subagents === 'number' && data.subagents > 0
          ? `with ${countedNoun(data.subagents, 'subagent')}`
          : null,
      ])
    case 'loss_report':
      return say('Loss report', [`${text(data.facts_kept)} of ${text(data.facts)} facts kept`])
    case 'recovery_delivered':
      return say('Facts told again', [typeof data.facts === 'number' ? countedNoun(data.facts, 'fact') : null], 'good')
    case 'handoff_requested':
      return say('Handoff requested', [
        data.cause === 'level' ? `by level ${text(data.level)}` : `by ${text(data.cause)}`,
        text(data.reason),
      ])
    case 'handoff_started':
      return say('Handoff started', [numbered(data.handoffNumber), way(data.way)])
    case 'handoff_completed':
      return say('Handed over', [way(data.way), chain(data)], 'good')
    case 'handoff_failed':
      return say('Handoff failed', [text(data.reason)], 'bad')
    case 'handoff_cancelled':
      return say('Handoff cancelled', [text(data.reason)])
    case 'message_queued':
      return say('Message queued', [text(data.category), text(data.mode)])
    case 'message_delivered':
      return say('Message delivered', [
        data.via ? `with ${text(data.via)}` : null,
        data.repeated === true ? 'repeated' : null,
      ])
    case 'message_cancelled':
      return say('Message cancelled', [text(data.reason)])
    case 'guard_tripped':
      return say(`Guard ${text(data.guard) ?? ''} stopped an action`, [text(data.reason)], 'bad')
    case 'silence_alarm':
      return say(
        'Baton receives no figures',
        [`${text(data.tool_calls)} tool calls, ${text(data.minutes)} min`, 'run baton doctor'],
        'bad',
      )
    case 'job_progress':
      if (data.waiting) return say('Job waits', [text(data.waiting), attempt(data)])
      return say(`Step ${text(data.total_steps) ?? ''} of the job`, [
        `session ${text(data.session) ?? ''}`,
        typeof data.used_tokens === 'number' ? `${groupedText(data.used_tokens)} tokens used` : null,
        typeof data.denied === 'number' && data.denied > 0 ? `${data.denied} denied` : null,
      ])
    case 'job_waiting':
      return say('Job waits', [text(data.reason)])
    case 'job_paused':
      return say('Job paused', [text(data.detail)])
    case 'job_cancelled':
      return say('Job cancelled', [text(data.detail)])
    case 'check_started':
      return say('Check started', [text(data.name)])
    case 'check_completed':
      return say(
        data.ok === true ? 'Check passed' : 'Check failed',
        [text(data.name), data.ok === true || data.exit_code === null ? null : `exit ${text(data.exit_code)}`],
        data.ok === true ? 'good' : 'bad',
      )
    case 'job_completed':
      return say('Job completed', [text(data.exit_reason)], 'good')
    case 'job_failed':
      return say('Job failed', [text(data.detail) ?? text(data.exit_reason)], 'bad')
    default:
      return say(type.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()))
  }
}

const text = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const numbered = (value: unknown): string | null => (typeof value === 'number' ? `number ${value}` : null)
const attempt = ({ attempt: number, max_attempts: most }: Event['data']): string | null =>
  typeof number === 'number' ? `attempt ${number}${typeof most === 'number' ? ` of ${most}` : ''}` : null

/** Words for the client's own names of how a session began or ended. */
const CLIENT_WORDS: Record<string, string> = {
  clear: 'by /clear',
  resume: 'resumed',
  compact: 'after a compaction',
  fork: 'forked',
  prompt_input_exit: 'by the user',
  gone: 'the client is gone',
  other: 'no reason reported',
}
const clientWord = (value: unknown): string | null => {
  const word = text(value)
  return word === null ? null : (CLIENT_WORDS[word] ?? word.replaceAll('_', ' '))
}
const ofPoint = (value: unknown): string | null =>
  typeof value === 'number' ? `${percentText(value)} of the way to compaction` : null
const way = (value: unknown): string | null =>
  value === 'start'
    ? 'when you cleared or started the client'
    : value === 'mod'
      ? 'inside the client'
      : value === 'tmux'
        ? 'typed in tmux'
        : null
const chain = ({ oldSessionId: old, newSessionId: fresh }: Event['data']): string | null =>
  typeof old === 'string' && typeof fresh === 'string' ? `${shortId(old)} → ${shortId(fresh)}` : null
