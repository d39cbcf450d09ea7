import type { Entry } from '../../contract/conversation.js'
import { Conversing } from './conversation-entries.js'
import { object } from './fields.js'

/** The entries one line alone tells: what it refers to in other lines is not known here. A line that cannot be read tells nothing. */
export function entriesOfLine(json: string, line: number, chain: 'main' | 'subagent'): Entry[] {
  const found: Entry[] = []
  try {
    const fields = object(JSON.parse(json))
    if (fields === null) return []
    const conversing = new Conversing((entry) => found.push(entry), chain)
    conversing.take(fields, line)
    conversing.end()
  } catch {
    return []
  }
  return found
}
