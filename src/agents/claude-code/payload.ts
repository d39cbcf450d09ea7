import { type Fields, parseObject } from './fields.js'
import { elements, members, type Span } from './skim.js'

/** Above this a body is skimmed: parsing it whole would cost more than all the rest of a signal. */
const PARSE_WHOLE = 64 * 1024
const KEEP_VALUE = 16 * 1024
/** Read whatever their size: they are what the event is about. */
const ALWAYS = new Set(['compact_summary', 'last_assistant_message'])

/** The client's JSON as fields; of a large one only the members an event needs. null: not a JSON object. */
export function openPayload(body: string): Fields | null {
  if (body.length <= PARSE_WHOLE) return parseObject(body)
  const found = members(body)
  if (found.size === 0) return null
  const fields: Fields = {}
  for (const [key, span] of found) {
    if (key === 'tool_calls') fields[key] = elements(body, span[0]).map((call) => toolCall(body, call))
    else if (span[1] - span[0] <= KEEP_VALUE || ALWAYS.has(key)) fields[key] = value(body, span)
  }
  return fields
}

/** What stands before the calls of a batch. */
export const BEFORE_CALLS = ',"tool_calls":['

/**
 * The same of a body that was left unread from somewhere within its tool calls on: what stands before them, and the calls that can be
 * told apart. null: it was not.
 */
export function openBeginning(body: string): Fields | null {
  const at = body.indexOf(BEFORE_CALLS)
  const fields = at < 0 ? null : parseObject(`${body.slice(0, at)}}`)
  if (fields === null) return null
  const ids = [...body.slice(at).matchAll(/"tool_use_id":"([^"\\]+)"/g)].map(([, id]) => ({ tool_use_id: id }))
  return { ...fields, tool_calls: ids.length > 0 ? ids : [{}] }
}

function toolCall(body: string, call: Span): Fields {
  const id = members(body, call[0]).get('tool_use_id')
  return id === undefined ? {} : { tool_use_id: value(body, id) }
}

function value(body: string, [start, end]: Span): unknown {
  try {
    return JSON.parse(body.slice(start, end))
  } catch {
    return null
  }
}
