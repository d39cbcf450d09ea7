import { readers } from '../../agents/readers.js'
import type { JobLogLine } from '../../contract/api/jobs.js'
import type { Entry } from '../../contract/conversation.js'
import type { Event } from '../../contract/event.js'
import { isOfSubagent } from '../../jobs/runtimes/client-messages.js'
import { jobEventText } from './job-event.js'
import type { Screen } from './screen.js'
import { localTime } from './times.js'
import { cut, harmless } from './width.js'

const LONGEST = 300

/** One line of a job's log as a person reads it on a terminal; [] where it says nothing to one. */
export function logLines(line: string, agent: string, { paint, columns }: Screen): string[] {
  const width = Math.min(LONGEST, columns)
  return readLogLine(line, agent).flatMap(({ at, kind, text, ok }) => {
    if (kind === 'baton') return [`${paint(localTime(new Date(at ?? '')), 'dim')} ${text}`]
    if (kind === 'agent') return text.split('\n')
    if (kind === 'other') return [paint(cut(`> ${flat(text)}`, width), 'cyan')]
    if (kind === 'call') return [paint(cut(`→ ${flat(text)}`, width), 'bold')]
    return [paint(cut(`${ok ? '←' : paint('✗', 'red')} ${flat(text)}`, width), 'dim')]
  })
}

/** What one line of a job's log tells, harmless to print. `other`: what the agent was told. */
export function readLogLine(line: string, agent: string): JobLogLine[] {
  const value = parsed(line)
  if (value === null) return []
  if (value.type === 'baton') {
    const text = jobEventText({ ...value, type: value.event } as unknown as Event)
    return text === null ? [] : [{ at: isoOf(value.at), kind: 'baton', text, ok: true }]
  }
  if (value.kind === 'answer') return scripted(value)
  if (value.type !== 'assistant' && value.type !== 'user') return []
  if (isOfSubagent(value)) return []
  return (readers[agent]?.entriesOfLine(line, 1, 'main') ?? []).flatMap(entryLine)
}

function entryLine(entry: Entry): JobLogLine[] {
  const at = entry.at === null ? null : new Date(entry.at).toISOString()
  if (entry.kind === 'said') return said(at, entry.by === 'agent' ? 'agent' : 'other', entry.text)
  if (entry.kind === 'called') return [{ at, kind: 'call', text: harmlessLines(`${entry.tool} ${wordsOf(entry)}`), ok: true }]
  if (entry.kind === 'returned') return [{ at, kind: 'result', text: harmlessLines(entry.text), ok: entry.ok !== false }]
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
      return `${act.todos.length} todos`
    case 'ask':
      return act.questions.join(' ')
    default:
      return act.words
  }
}

/** A session without any client writes our own messages. */
function scripted(value: Record<string, unknown>): JobLogLine[] {
  const calls = Array.isArray(value.calls) ? (value.calls as { name?: string; input?: unknown }[]) : []
  return [
    ...said(null, 'agent', typeof value.text === 'string' ? value.text : ''),
    ...calls.map(({ name, input }): JobLogLine => {
      const words = typeof input === 'string' ? input : JSON.stringify(input ?? '')
      return { at: null, kind: 'call', text: harmlessLines(`${name} ${words}`), ok: true }
    }),
  ]
}

const harmlessLines = (text: string): string => text.trim().split('\n').map(harmless).join('\n')
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
