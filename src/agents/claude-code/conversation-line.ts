import type { Entry } from '../../contract/conversation.js'
import { Conversing } from './conversation-entries.js'
import { type Fields, object, parseObject, text } from './fields.js'

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

/** The entries of a line in the client's stream of messages; of subagents and of other messages none. */
export function entriesOfStreamLine(json: string): Entry[] {
  const message = parseObject(json)
  if (message?.type !== 'assistant' && message?.type !== 'user') return []
  return isOfSubagent(message) ? [] : entriesOfLine(json, 1, 'main')
}

/** Whether a message is one of a subagent's own: that is another story than the main agent's. */
export function isOfSubagent(message: Fields): boolean {
  return text(message.parent_tool_use_id) !== null
}

/** The working folder that a line names; null when it names none or cannot be read. */
export function folderOfLine(json: string): string | null {
  try {
    const folder = object(JSON.parse(json))?.cwd
    return typeof folder === 'string' && folder.startsWith('/') ? folder : null
  } catch {
    return null
  }
}
