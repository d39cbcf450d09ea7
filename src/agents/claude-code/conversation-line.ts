import type { Entry } from '../../contract/conversation.js'
import { EntryBuilder } from './conversation-entries.js'
import { asObject, asText, type Fields, parseObject } from './fields.js'

/**
 * Returns the entries of one line, without data from other lines that it refers to.
 * Empty when the line cannot be parsed.
 */
export function entriesOfLine(json: string, line: number, chain: 'main' | 'subagent'): Entry[] {
  const found: Entry[] = []
  try {
    const fields = asObject(JSON.parse(json))
    if (fields === null) return []
    const builder = new EntryBuilder((entry) => found.push(entry), chain)
    builder.take(fields, line)
    builder.end()
  } catch {
    return []
  }
  return found
}

/**
 * Returns the entries of a line in the client's message stream.
 * Empty for subagents and other messages.
 */
export function entriesOfStreamLine(json: string): Entry[] {
  const message = parseObject(json)
  if (message?.type !== 'assistant' && message?.type !== 'user') return []
  return isSubagentMessage(message) ? [] : entriesOfLine(json, 1, 'main')
}

/** Returns whether a message belongs to a subagent and not to the main conversation. */
export function isSubagentMessage(message: Fields): boolean {
  return asText(message.parent_tool_use_id) !== null
}

/**
 * Returns the working folder named in a line. Null when there is none or the line cannot be parsed.
 */
export function folderOfLine(json: string): string | null {
  try {
    const folder = asObject(JSON.parse(json))?.cwd
    return typeof folder === 'string' && folder.startsWith('/') ? folder : null
  } catch {
    return null
  }
}
