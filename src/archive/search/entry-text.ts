import type { Entry, ToolAction } from '../../contract/conversation.js'
import type { HitKind } from '../../contract/records/archive.js'

/** Returns the searchable text of an entry. Null when it has none. */
export function textOfEntry(entry: Entry): { kind: HitKind; text: string } | null {
  const found = kindAndText(entry)
  return found.text.trim() === '' ? null : found
}

function kindAndText(entry: Entry): { kind: HitKind; text: string } {
  switch (entry.kind) {
    case 'said':
      return { kind: entry.by === 'user' ? 'prompt' : entry.by === 'agent' ? 'answer' : 'other', text: entry.text }
    case 'called':
      return { kind: entry.act.type === 'command' ? 'command' : 'call', text: textOfAct(entry.tool, entry.act) }
    case 'returned':
      return { kind: 'result', text: [entry.text, ...entry.answers].join('\n') }
    case 'compacted':
      return { kind: 'summary', text: entry.summary ?? '' }
  }
}

function textOfAct(tool: string, act: ToolAction): string {
  switch (act.type) {
    case 'command':
      return act.command
    case 'read':
    case 'change':
      return `${tool} ${act.path}`
    case 'todos':
      return [tool, ...act.todos.map(({ text }) => text)].join('\n')
    case 'ask':
      return [tool, ...act.questions].join('\n')
    case 'delegate':
      return `${tool} ${act.task}`
    case 'other':
      return `${tool} ${act.words}`
  }
}

const HEAD = 65_536
const TAIL = 16_384

/**
 * Shortens a text for the index to its beginning and end.
 * The middle of long listings or images would fill the index and help nobody.
 */
export function shortenForIndex(text: string): string {
  return text.length <= HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`
}
