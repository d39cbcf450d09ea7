import type { TranscriptPart } from '../../../../src/contract/api/archives.js'

export type Line = TranscriptPart['entries'][number]

/** What is read as one thing: something said, or a call with what came back. */
export interface Item {
  /** Stays the same while more is read around it. */
  key: string
  kind: 'said' | 'tool' | 'summary'
  entry: Line
  /** Of a call: what came back; null: it stands elsewhere or never came. */
  result: Line | null
}

/** Calls and what came back are one item, where the call stands. */
export function readItems(entries: readonly Line[]): Item[] {
  const calls = new Map<string, Item>()
  const items: Item[] = []
  let line = 0
  let nth = 0
  for (const entry of entries) {
    nth = entry.line === line ? nth + 1 : 0
    line = entry.line
    const call = entry.role === 'result' && entry.call_id !== null ? calls.get(entry.call_id) : undefined
    if (call !== undefined && call.result === null) {
      call.result = entry
      continue
    }
    const item: Item = { key: `${entry.line}-${nth}`, kind: kindOf(entry), entry, result: null }
    items.push(item)
    if (entry.role === 'call' && entry.call_id !== null) calls.set(entry.call_id, item)
  }
  return items
}

function kindOf({ role }: Line): Item['kind'] {
  return role === 'call' || role === 'result' ? 'tool' : role === 'summary' ? 'summary' : 'said'
}

/** What stands in a line; where nothing does, what comes next, or else the last. */
export function itemAt(items: readonly Item[], line: number): Item | undefined {
  return (
    items.find(({ entry, result }) => entry.line === line || result?.line === line) ??
    items.find(({ entry }) => entry.line > line) ??
    items.at(-1)
  )
}

/** A call in one line: what it was about, without the tool's name. */
export function aboutCall({ text, tool }: Line): string {
  const about = tool !== null && text.startsWith(`${tool} `) ? text.slice(tool.length + 1) : text === tool ? '' : text
  return firstLine(about)
}

/** What came back in a few words: `ok`, `failed`, how much. */
export function aboutResult(result: Line | null): string {
  if (result === null) return ''
  const lines = result.text === '' ? 0 : result.text.split('\n').length
  const size = lines === 0 ? 'nothing' : lines === 1 ? firstLine(result.text, 32) : `${lines}${result.cut ? '+' : ''} lines`
  return result.ok === false ? `failed, ${size}` : size
}

export function firstLine(text: string, most = 200): string {
  const line = text.trimStart().split('\n', 1)[0]!.trimEnd()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

export interface Folded {
  shown: string
  /** Lines that are not shown; 0: all is. */
  hidden: number
}

/** The beginning of a long text: so many lines, so many characters at most. */
export function foldText(text: string, lines = 24, characters = 2_400): Folded {
  const all = text.split('\n')
  const few = all.slice(0, lines).join('\n')
  const shown = few.length > characters ? few.slice(0, characters) : few
  // Two lines more or less are not worth a button.
  if (all.length <= lines + 2 && text.length <= characters * 1.2) return { shown: text, hidden: 0 }
  return { shown, hidden: Math.max(1, all.length - shown.split('\n').length) }
}
