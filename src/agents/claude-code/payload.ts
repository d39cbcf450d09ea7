import { type Fields, parseObject } from './fields.js'

/**
 * Size above which a body is only scanned, because parsing it would take most of a signal's time.
 */
const PARSE_WHOLE = 64 * 1024
const KEEP_VALUE = 16 * 1024
/** Members that are read at any size, because the event is about their content. */
const ALWAYS = new Set(['compact_summary', 'last_assistant_message'])

/**
 * Parses the client's JSON.
 * Reads only the members that an event needs from a large body.
 * Null when the body is not a JSON object.
 */
export function parsePayload(body: string): Fields | null {
  if (body.length <= PARSE_WHOLE) return parseObject(body)
  const found = jsonMembers(body)
  if (found.size === 0) return null
  const fields: Fields = {}
  for (const [key, span] of found) {
    if (key === 'tool_calls') fields[key] = jsonElements(body, span[0]).map((call) => toolCall(body, call))
    else if (span[1] - span[0] <= KEEP_VALUE || ALWAYS.has(key)) fields[key] = value(body, span)
  }
  return fields
}

/** The text before the calls of a batch. */
export const TOOL_CALLS_PREFIX = ',"tool_calls":['

/**
 * Parses a body that was cut off within its tool calls:
 * the members before the calls, and the calls with a readable id.
 * Null when the body has no tool calls.
 */
export function parseTruncatedPayload(body: string): Fields | null {
  const at = body.indexOf(TOOL_CALLS_PREFIX)
  const fields = at < 0 ? null : parseObject(`${body.slice(0, at)}}`)
  if (fields === null) return null
  const ids = [...body.slice(at).matchAll(/"tool_use_id":"([^"\\]+)"/g)].map(([, id]) => ({ tool_use_id: id }))
  return { ...fields, tool_calls: ids.length > 0 ? ids : [{}] }
}

function toolCall(body: string, call: Span): Fields {
  const id = jsonMembers(body, call[0]).get('tool_use_id')
  return id === undefined ? {} : { tool_use_id: value(body, id) }
}

function value(body: string, [start, end]: Span): unknown {
  try {
    return JSON.parse(body.slice(start, end))
  } catch {
    return null
  }
}

/**
 * Scans large JSON text without building objects from it.
 * The scan hops from quote to quote, because parsing a tool result of megabytes is slow.
 * Positions past a truncated end are -1. Complete members before that end are kept.
 */
const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const OPENERS = new Set([0x5b, 0x7b])
const CLOSERS = new Set([0x5d, 0x7d])

type Span = readonly [start: number, end: number]

/** Returns the members of the object at `at`, as key and the span of the value's text. */
export function jsonMembers(json: string, at = 0): Map<string, Span> {
  const found = new Map<string, Span>()
  let pos = blank(json, at)
  if (json[pos] !== '{') return found
  pos = blank(json, pos + 1)
  while (json.charCodeAt(pos) === QUOTE) {
    const keyEnd = skipString(json, pos)
    const start = keyEnd < 0 ? -1 : blank(json, keyEnd)
    if (start < 0 || json[start] !== ':') return found
    const valueAt = blank(json, start + 1)
    const valueEnd = skipValue(json, valueAt)
    if (valueEnd < 0) return found
    found.set(json.slice(pos + 1, keyEnd - 1), [valueAt, valueEnd])
    pos = blank(json, valueEnd)
    if (json.charCodeAt(pos) !== COMMA) return found
    pos = blank(json, pos + 1)
  }
  return found
}

/** Returns the spans of the elements of the array at `at`. */
export function jsonElements(json: string, at = 0): Span[] {
  const found: Span[] = []
  let pos = blank(json, at)
  if (json[pos] !== '[') return found
  pos = blank(json, pos + 1)
  while (pos < json.length && json[pos] !== ']') {
    const end = skipValue(json, pos)
    if (end < 0) return found
    found.push([pos, end])
    pos = blank(json, end)
    if (json.charCodeAt(pos) !== COMMA) return found
    pos = blank(json, pos + 1)
  }
  return found
}

function skipValue(json: string, at: number): number {
  const first = json.charCodeAt(at)
  if (first === QUOTE) return skipString(json, at)
  let depth = 0
  let pos = at
  while (pos < json.length) {
    const code = json.charCodeAt(pos)
    if (code === QUOTE) {
      pos = skipString(json, pos)
      if (pos < 0) return -1
      continue
    }
    if (OPENERS.has(code)) depth++
    else if (CLOSERS.has(code)) {
      if (depth === 0) return pos > at ? pos : -1
      if (--depth === 0) return pos + 1
    } else if (depth === 0 && (code === COMMA || code <= 32)) return pos > at ? pos : -1
    pos++
  }
  return -1
}

function skipString(json: string, at: number): number {
  let quote = json.indexOf('"', at + 1)
  while (quote >= 0) {
    let slashes = 0
    while (json.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
    quote = json.indexOf('"', quote + 1)
  }
  return -1
}

function blank(json: string, at: number): number {
  let pos = at
  while (json.charCodeAt(pos) <= 32) pos++
  return pos
}
