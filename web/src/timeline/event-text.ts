import type { Event } from '../../../src/contract/event.js'
import { bytesText, groupedText, percentText, plural, shortId } from '../format.js'

/** What an event says, in a short sentence, and the small print behind it. Texts of others stay texts. */
export interface EventText {
  title: string
  detail: string
  /** How much it matters to who looks: `bad` went wrong, `good` went well. */
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
      return say('Session started', [text(data.source), text(data.model)])
    case 'session_ended':
      return say('Session ended', [text(data.reason)])
    case 'reading':
      return say(`${groupedText(number(data.used_tokens))} tokens used`, [ofPoint(data.compaction_percent), text(data.source)])
    case 'cycle_started':
      return say(`Cycle ${text(data.cycle) ?? ''} began`, [text(data.reason)])
    case 'level_crossed':
      return say(`Crossed ${text(data.level) ?? 'a level'}`, [ofPoint(data.compaction_percent)])
    case 'archive_created':
      return say('Transcript kept', [
        text(data.trigger),
        bytesText(number(data.bytes)),
        typeof data.subagents === 'number' && data.subagents > 0 ? `with ${plural(data.subagents, 'subagent')}` : null,
      ])
    case 'loss_report':
      return say('Loss report', [`${text(data.facts_kept)} of ${text(data.facts)} facts carried`])
    case 'recovery_delivered':
      return say('Facts put back', [typeof data.facts === 'number' ? plural(data.facts, 'fact') : null], 'good')
    case 'handoff_requested':
      return say('Handoff asked for', [
        data.cause === 'level' ? `by level ${text(data.level)}` : `by ${text(data.cause)}`,
        text(data.reason),
      ])
    case 'handoff_started':
      return say('Handoff began', [way(data.way)])
    case 'handoff_completed':
      return say('Handed over', [way(data.way), chain(data)], 'good')
    case 'handoff_failed':
      return say('Handoff failed', [text(data.reason)], 'bad')
    case 'handoff_cancelled':
      return say('Handoff called off', [text(data.reason)])
    case 'message_queued':
      return say('Message queued', [text(data.category), text(data.mode)])
    case 'message_delivered':
      return say('Message delivered', [data.via ? `with ${text(data.via)}` : null, data.repeated === true ? 'repeated' : null])
    case 'message_cancelled':
      return say('Message called off', [text(data.reason)])
    case 'guard_tripped':
      return say(`Guard ${text(data.guard) ?? ''} held it back`, [text(data.reason)], 'bad')
    case 'silence_alarm':
      return say(
        'No readings arrive',
        [`${text(data.tool_calls)} tool calls, ${text(data.minutes)} min`, 'run baton doctor'],
        'bad',
      )
    case 'job_completed':
      return say('Job completed', [text(data.exit_reason)], 'good')
    case 'job_failed':
      return say('Job failed', [text(data.exit_reason)], 'bad')
    default:
      return say(type.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()))
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' || typeof value === 'number' ? String(value) : null)
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const ofPoint = (value: unknown): string | null => (typeof value === 'number' ? `${percentText(value)} of the point` : null)
const way = (value: unknown): string | null =>
  value === 'start'
    ? 'by the person’s own clear or start'
    : value === 'mod'
      ? 'inside the client'
      : value === 'tmux'
        ? 'typed in tmux'
        : null
const chain = ({ oldSessionId: old, newSessionId: fresh }: Event['data']): string | null =>
  typeof old === 'string' && typeof fresh === 'string' ? `${shortId(old)} → ${shortId(fresh)}` : null
