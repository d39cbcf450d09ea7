import { transcriptReaders } from '../../agents/readers.js'
import type { JobLogLine } from '../../contract/api/jobs.js'
import type { Entry } from '../../contract/conversation.js'
import type { Event } from '../../contract/records/event.js'
import { formatCount } from '../../lib/format-count.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { jobEventText } from './job-event.js'
import type { Colour, Paint, Screen } from './screen.js'
import { cutToWidth, localTime } from './text.js'

const LONGEST = 300
/** Width of `09:05:31 ` before each entry. Other lines of an entry are indented by as much. */
const TIME_WIDTH = 9

/**
 * Returns a function that renders the lines of a job's log, called in order.
 * The returned function adds the time of each line, and returns [] for lines of no interest.
 * Most clients write no time, so the last time that Baton noted applies.
 * `time` applies before the first. `whole` disables the cutting of calls and results.
 */
export function logPrinter(
  agent: string,
  { paint, columns }: Screen,
  time: string | null = null,
  length: 'cut' | 'whole' = 'cut',
): (line: string) => string[] {
  const width = length === 'whole' ? null : Math.min(LONGEST, columns) - TIME_WIDTH
  const blank = ' '.repeat(TIME_WIDTH)
  let last = time
  return (line) => {
    last = timeNotedIn(line) ?? last
    return readLogLine(line, agent).flatMap(({ at, kind, text, ok }) => {
      const when = at ?? last
      const begin = when === null ? blank : `${paint(localTime(new Date(when)), 'dim')} `
      return textLines(kind, text, ok, width, paint).map((each, n) => `${n === 0 ? begin : blank}${each}`.trimEnd())
    })
  }
}

/** Returns the time in a line that Baton wrote. Null for a client's line. */
function timeNotedIn(line: string): string | null {
  const value = line.includes('"baton"') ? parsed(line) : null
  return value?.type === 'baton' ? isoOf(value.at) : null
}

/** Renders a text as lines. A null `width` disables cutting. */
function textLines(kind: JobLogLine['kind'], text: string, ok: boolean, width: number | null, paint: Paint): string[] {
  const marked = (mark: string, colour: Colour): string[] =>
    width === null
      ? text.split('\n').map((part, at) => paint(`${at === 0 ? mark : ' '} ${part}`, colour))
      : [paint(cutToWidth(`${mark} ${flat(text)}`, width), colour)]
  if (kind === 'baton') return [text]
  if (kind === 'agent') return text.split('\n')
  if (kind === 'other') return marked('>', 'cyan')
  if (kind === 'call') return marked('→', 'bold')
  return marked(ok ? '←' : paint('✗', 'red'), 'dim')
}

/**
 * Parses a line of a job's log, without terminal sequences. Kind `other` is text sent to the agent.
 */
export function readLogLine(line: string, agent: string): JobLogLine[] {
  const value = parsed(line)
  if (value === null) return []
  if (value.type === 'baton') {
    const text = jobEventText({ ...value, type: value.event } as unknown as Event)
    return text === null ? [] : [{ at: isoOf(value.at), kind: 'baton', text, ok: true }]
  }
  if (value.kind === 'answer') return scripted(value)
  if (value.kind === 'returned') return [scriptedResult(value)]
  return (transcriptReaders[agent]?.entriesOfStreamLine?.(line) ?? []).flatMap(entryLine)
}

function entryLine(entry: Entry): JobLogLine[] {
  const at = entry.at === null ? null : new Date(entry.at).toISOString()
  if (entry.kind === 'said') return said(at, entry.by === 'agent' ? 'agent' : 'other', entry.text)
  if (entry.kind === 'called')
    return [
      { at, kind: 'call', text: harmlessLines(`${entry.tool} ${wordsOf(entry)}`), ok: true, call_id: entry.callId },
    ]
  if (entry.kind === 'returned')
    return [{ at, kind: 'result', text: harmlessLines(entry.text), ok: entry.ok !== false, call_id: entry.callId }]
  return []
}

function said(at: string | null, kind: 'agent' | 'other', text: string): JobLogLine[] {
  return text.trim() === '' ? [] : [{ at, kind, text: harmlessLines(text), ok: true }]
}

function wordsOf({ act }: Extract<Entry, { kind: 'called' }>): string {
  switch (act.type) {
    case 'read':
    case 'change':
      return act.path
    case 'command':
      return act.command
    case 'delegate':
      return act.task
    case 'todos':
      return formatCount(act.todos.length, 'todo')
    case 'ask':
      return act.questions.join(' ')
    default:
      return act.words
  }
}

/** Parses a line of a session without a client, which writes Baton's own messages. */
function scripted(value: Record<string, unknown>): JobLogLine[] {
  const calls = Array.isArray(value.calls) ? (value.calls as { id?: string; name?: string; input?: unknown }[]) : []
  return [
    ...said(null, 'agent', typeof value.text === 'string' ? value.text : ''),
    ...calls.map(({ id, name, input }): JobLogLine => {
      const words = typeof input === 'string' ? input : JSON.stringify(input ?? '')
      return {
        at: null,
        kind: 'call',
        text: harmlessLines(`${name} ${words}`),
        ok: true,
        ...(id ? { call_id: id } : {}),
      }
    }),
  ]
}

function scriptedResult({ id, result, failed }: Record<string, unknown>): JobLogLine {
  return {
    at: null,
    kind: 'result',
    text: harmlessLines(String(result ?? '')),
    ok: failed !== true,
    call_id: String(id),
  }
}

const harmlessLines = (text: string): string => text.trim().split('\n').map(replaceControls).join('\n')
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()

function isoOf(at: unknown): string | null {
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
