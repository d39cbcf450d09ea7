import { readers } from '../../agents/readers.js'
import type { Entry } from '../../contract/conversation.js'
import type { Event } from '../../contract/event.js'
import { isOfSubagent } from '../../jobs/runtimes/client-messages.js'
import { jobEventLine } from './job-event.js'
import type { Screen } from './screen.js'
import { cut, harmless } from './width.js'

const LONGEST = 300

/** One line of a job's log as a person reads it; [] where it says nothing to one. */
export function logLines(line: string, agent: string, { paint, columns }: Screen): string[] {
  const value = parsed(line)
  if (value === null) return []
  if (value.type === 'baton') {
    const said = jobEventLine({ ...value, type: value.event } as unknown as Event, paint)
    return said === null ? [] : [said]
  }
  if (value.kind === 'answer') return scripted(value, paint)
  if (value.type !== 'assistant' && value.type !== 'user') return []
  if (isOfSubagent(value)) return []
  const width = Math.min(LONGEST, columns)
  return (readers[agent]?.entriesOfLine(line, 1, 'main') ?? []).flatMap((entry) => entryLines(entry, paint, width))
}

function entryLines(entry: Entry, paint: Screen['paint'], width: number): string[] {
  if (entry.kind === 'said') {
    const text = harmless(entry.text.trim())
    if (text === '') return []
    if (entry.by === 'agent') return lines(entry.text)
    return [paint(cut(`> ${flat(text)}`, width), 'cyan')]
  }
  if (entry.kind === 'called') return [paint(cut(`→ ${entry.tool} ${flat(wordsOf(entry))}`, width), 'bold')]
  if (entry.kind === 'returned') {
    const mark = entry.ok === false ? paint('✗', 'red') : '←'
    return [paint(cut(`${mark} ${flat(entry.text)}`, width), 'dim')]
  }
  return []
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
function scripted(value: Record<string, unknown>, paint: Screen['paint']): string[] {
  const calls = Array.isArray(value.calls) ? (value.calls as { name?: string; input?: unknown }[]) : []
  const text = typeof value.text === 'string' ? value.text.trim() : ''
  return [
    ...lines(text),
    ...calls.map(({ name, input }) =>
      paint(cut(`→ ${name} ${flat(typeof input === 'string' ? input : JSON.stringify(input ?? ''))}`, LONGEST), 'bold'),
    ),
  ]
}

const lines = (text: string): string[] => (text.trim() === '' ? [] : text.trim().split('\n').map(harmless))
const flat = (text: string): string => harmless(text.replace(/\s+/g, ' ').trim())

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
