import type { Event } from '../../contract/event.js'
import { grouped, percentText } from '../../policy/numbers.js'
import type { Colour, Paint } from './screen.js'
import { localDay, localTime, offset, stamp } from './times.js'
import { harmless, padEnd } from './width.js'

const COLOURS: Partial<Record<Event['type'], Colour>> = {
  level_crossed: 'yellow',
  context_warning: 'yellow',
  silence_alarm: 'red',
  guard_tripped: 'red',
  compaction_start: 'cyan',
  compaction_complete: 'cyan',
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
