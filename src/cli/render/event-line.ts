import type { Event } from '../../contract/event.js'
import { grouped, percentText } from '../../policy/numbers.js'
import { bytesText } from './bytes.js'
import type { Colour, Paint } from './screen.js'
import { localDay, localTime, offset, stamp } from './times.js'
import { cut, harmless, padEnd } from './width.js'

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

/** In a pipe every line bears its whole time; on a terminal the day stands above its lines. */
export function eventLine(event: Event, options: { paint: Paint; fullTime: boolean; session: boolean }): string {
  const time = options.fullTime ? stamp(event.at) : localTime(new Date(event.at))
  const session = options.session ? `  ${padEnd(harmless(event.session_id?.slice(0, 8) ?? '–'), 8)}` : ''
  const what = options.paint(padEnd(event.type, 19), COLOURS[event.type] ?? 'bold')
  return `${options.paint(time, 'dim')}${session}  ${what}  ${harmless(detail(event))}`.trimEnd()
}

/** The line above the first event of a day. */
export function dayLine(at: string, paint: Paint): string {
  const date = new Date(at)
  return paint(`${localDay(date)} (${offset(date)})`, 'dim')
}

export function dayOf(at: string): string {
  return localDay(new Date(at))
}

function detail({ type, data }: Event): string {
  switch (type) {
    case 'reading':
      return list([
        tokens(data.used_tokens),
        ofPoint(data.compaction_percent),
        text(data.source),
        data.exact === false ? 'derived' : null,
      ])
    case 'level_crossed':
      return list([
        text(data.level),
        data.at_tokens === null ? null : `at ${tokens(data.at_tokens)}`,
        `used ${tokens(data.used_tokens)}`,
        ofPoint(data.compaction_percent),
      ])
    case 'context_warning':
      return list([names(data.levels), `used ${tokens(data.usedTokens)}`, ofPoint(data.contextUsedPercent)])
    case 'compaction_start':
      return list([trigger(data), ofPoint(data.contextUsedPercent)])
    case 'compaction_complete':
      return list([text(data.outcome), trigger(data), `${tokens(data.tokensBefore)} → ${tokens(data.tokensAfter)}`])
    case 'archive_created':
      return list([
        text(data.trigger),
        typeof data.bytes === 'number' ? bytesText(data.bytes) : null,
        data.subagents ? `and ${count(data.subagents, 'subagent')}` : null,
        text(data.archive_id),
      ])
    case 'loss_report':
      return list([
        `facts kept ${text(data.facts_kept) ?? '–'} of ${text(data.facts) ?? '–'}`,
        lostKinds(data.by_kind),
        firstLost(data.lost),
      ])
    case 'recovery_delivered':
      return list([`${count(data.facts, 'fact')} put back`, data.step === 2 ? 'what the summary lacks' : 'with the next request'])
    case 'cycle_started':
      return list([`cycle ${text(data.cycle)}`, text(data.reason)])
    case 'session_started':
      return list([text(data.source), text(data.model), text(data.cwd)])
    case 'session_ended':
      return text(data.reason) ?? ''
    case 'message_queued':
      return list([text(data.category), text(data.mode), text(data.message_id)])
    case 'message_delivered':
      return list([data.via ? `with ${text(data.via)}` : null, data.repeated ? 'repeated' : null, text(data.message_id)])
    case 'message_cancelled':
      return list([text(data.reason), text(data.message_id)])
    case 'guard_tripped':
      return list([text(data.guard), text(data.reason)])
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
      return `no reading for ${text(data.tool_calls)} tool calls, ${text(data.minutes)} min: run baton doctor`
    default:
      return list(
        Object.entries(data).map(([key, value]) =>
          value === null || typeof value === 'object' ? null : `${key} ${String(value)}`,
        ),
      )
  }
}

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
const list = (parts: (string | null)[]): string => parts.filter((part) => part !== null && part !== '').join(' · ')
const tokens = (value: unknown): string => (typeof value === 'number' ? grouped(value) : '–')
const ofPoint = (value: unknown): string | null => (typeof value === 'number' ? `${percentText(value)} of point` : null)
const names = (value: unknown): string | null => (Array.isArray(value) ? value.join(', ') : null)
const trigger = ({ triggerReason, overflow }: Record<string, unknown>): string =>
  overflow ? 'after a refusal' : triggerReason === 'manual' ? 'by hand' : 'by the client'
const count = (value: unknown, of: string): string => `${text(value) ?? '–'} ${of}${value === 1 ? '' : 's'}`

const way = (value: unknown): string | null =>
  value === 'start' ? 'by the person’s own clear or start' : value ? `by ${text(value)}` : null
const sessions = ({ oldSessionId: old, newSessionId: fresh }: Record<string, unknown>): string | null =>
  fresh ? `${text(old)?.slice(0, 8) ?? '–'} → ${text(fresh)!.slice(0, 8)}` : null

/** Of each kind how many were lost. */
function lostKinds(kinds: unknown): string | null {
  if (typeof kinds !== 'object' || kinds === null) return null
  const lost = Object.entries(kinds as Record<string, { total?: number; kept?: number } | null>).flatMap(([kind, one]) => {
    const missing = (one?.total ?? 0) - (one?.kept ?? 0)
    return missing > 0 ? [`${kind} ${missing}`] : []
  })
  return lost.length === 0 ? null : `lost: ${lost.join(', ')}`
}

function firstLost(lost: unknown): string | null {
  const first: unknown = Array.isArray(lost) ? lost[0] : null
  return typeof first === 'object' && first !== null && 'text' in first ? `most needed: ${cut(String(first.text), 60)}` : null
}
