/**
 * Looks into large JSON text without building it: a tool result of several megabytes costs a hop from quote to quote instead of a
 * parse. Positions past a torn end are -1, and what stood whole before it is kept.
 */
const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const OPENERS = new Set([0x5b, 0x7b])
const CLOSERS = new Set([0x5d, 0x7d])

export type Span = readonly [start: number, end: number]

/** The members of the object that begins at `at`, as key and the span of the value's text. */
export function members(json: string, at = 0): Map<string, Span> {
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

/** The spans of the elements of the array that begins at `at`. */
export function elements(json: string, at = 0): Span[] {
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
