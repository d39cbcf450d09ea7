import { type JsonArray, type JsonNode, type JsonObject, readJson } from './json-text.js'

/** The layout of a JSON file, so that additions look like the rest. */
interface Layout {
  eol: string
  unit: string
  /** True when the file has line breaks. False when the whole file is one line. */
  lines: boolean
  /** True for `"a": 1`, false for `"a":1`. */
  spaced: boolean
}

/** Adds a property at the end of a JSON object. `node` must have been read from `text`. */
export function addProperty(text: string, node: JsonObject, key: string, value: unknown): string {
  return add(
    text,
    node,
    (lay, indent, lines) => `${JSON.stringify(key)}:${lay.spaced ? ' ' : ''}${print(value, lay, indent, lines)}`,
  )
}

/** Adds an item at the end of a JSON array. */
export function addItem(text: string, node: JsonArray, value: unknown): string {
  return add(text, node, (lay, indent, lines) => print(value, lay, indent, lines))
}

/** Removes a part of an object or array with its comma, the inverse of adding that part. */
export function removePart(text: string, node: JsonObject | JsonArray, index: number): string {
  const { parts } = node
  const part = parts[index]!
  if (parts.length === 1) return splice(text, node.start + 1, node.end - 1, '')
  const before = parts[index - 1]
  const after = parts[index + 1]
  return after ? splice(text, part.start, after.start, '') : splice(text, before!.end, part.end, '')
}

/** Replaces a value by other JSON and leaves everything around it unchanged. */
export function replaceValue(text: string, node: JsonNode, literal: string): string {
  return splice(text, node.start, node.end, literal)
}

type Write = (lay: Layout, indent: string, lines: boolean) => string

function add(text: string, node: JsonObject | JsonArray, write: Write): string {
  const lay = layoutOf(text)
  const last = node.parts.at(-1)
  if (!last) {
    if (!lay.lines) return splice(text, node.start + 1, node.end - 1, write(lay, '', false))
    const outer = indentAt(text, node.start)
    const inner = outer + lay.unit
    return splice(text, node.start + 1, node.end - 1, `${lay.eol}${inner}${write(lay, inner, true)}${lay.eol}${outer}`)
  }
  const from = node.parts.at(-2)?.end ?? node.start + 1
  const lines = text.slice(from, last.start).includes('\n')
  const indent = indentAt(text, last.start)
  const gap = lines ? `${lay.eol}${indent}` : lay.spaced ? ' ' : ''
  return splice(text, last.end, last.end, `,${gap}${write(lay, indent, lines)}`)
}

function print(value: unknown, lay: Layout, indent: string, lines: boolean): string {
  if (!lines && !lay.spaced) return JSON.stringify(value)
  const tabbed = JSON.stringify(value, null, '\t')
  // JSON strings contain no bare line break, so every line break found here is layout.
  if (!lines) return tabbed.replace(/\n\t*/g, ' ')
  return tabbed.replace(/\n(\t*)/g, (_, tabs: string) => `${lay.eol}${indent}${lay.unit.repeat(tabs.length)}`)
}

function layoutOf(text: string): Layout {
  const root = readJson(text)
  const first = root.kind === 'object' ? root.parts[0] : undefined
  if (!first) return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: '  ', lines: true, spaced: true }
  const indent = indentAt(text, first.start)
  const body = text.slice(root.start, root.end)
  return {
    eol: body.includes('\r\n') ? '\r\n' : '\n',
    unit: indent || '  ',
    lines: body.includes('\n'),
    spaced: /\s/.test(text[first.value.start - 1] ?? ''),
  }
}

/** Returns the white space at the start of the line that contains `offset`. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function splice(text: string, start: number, end: number, put: string): string {
  return text.slice(0, start) + put + text.slice(end)
}
