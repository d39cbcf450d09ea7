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
  const size =
    lines === 0 ? 'nothing' : lines === 1 ? firstLine(result.text, 32) : `${lines}${result.cut ? '+' : ''} lines`
  return result.ok === false ? `failed, ${size}` : size
}

export function firstLine(text: string, most = 200): string {
  const line = text.trimStart().split('\n', 1)[0]!.trimEnd()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

interface Folded {
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

/**
 * The part of a transcript that is on the page: a transcript may have a hundred thousand lines, so what is far from where one reads is
 * let go, and read again when one comes back. Lines are never divided.
 */
export interface ReadingWindow {
  readonly entries: readonly Line[]
  /** What to ask for before it; null: it begins with the beginning. */
  readonly before: number | null
  /** What to ask for after it; null: it ends with the end. */
  readonly from: number | null
  readonly lines: number | null
}

export const WINDOW_LIMIT = 600

export function windowOf(...parts: readonly TranscriptPart[]): ReadingWindow {
  const first = parts[0]!
  const last = parts.at(-1)!
  return {
    entries: parts.flatMap(({ entries }) => entries),
    before: first.previous_line,
    from: last.next_line,
    lines: last.lines ?? first.lines,
  }
}

export function appendLines(window: ReadingWindow, part: TranscriptPart): ReadingWindow {
  const all = [...window.entries, ...part.entries]
  const cut = all.length <= WINDOW_LIMIT ? 0 : lineStart(all, all.length - WINDOW_LIMIT)
  return {
    entries: all.slice(cut),
    before: cut === 0 ? window.before : all[cut]!.line,
    from: part.next_line,
    lines: part.lines ?? window.lines,
  }
}

export function prependLines(window: ReadingWindow, part: TranscriptPart): ReadingWindow {
  const all = [...part.entries, ...window.entries]
  const cut = all.length <= WINDOW_LIMIT ? all.length : lineStart(all, WINDOW_LIMIT)
  return {
    entries: all.slice(0, cut),
    before: part.previous_line,
    from: cut === all.length ? window.from : all[cut]!.line,
    lines: part.lines ?? window.lines,
  }
}

/** The first entry of the line after the one this entry stands in; of its own line where there is no other. */
function lineStart(entries: readonly Line[], at: number): number {
  const next = entries.findIndex(({ line }, place) => place >= at && line !== entries[place - 1]?.line)
  return next < 0 ? entries.length : next
}

/** Whether what stands in a line, or next to it where nothing does, is in it. */
export function covers({ entries, before, from }: ReadingWindow, line: number): boolean {
  const [first, last] = [entries[0]?.line ?? 0, entries.at(-1)?.line ?? 0]
  return (before === null || first <= line) && (from === null || last >= line)
}

/** The text that was cut is here whole. */
export function withFullLine(window: ReadingWindow, whole: readonly Line[]): ReadingWindow {
  const line = whole[0]?.line
  const rest = whole.slice()
  return {
    ...window,
    entries: window.entries.map((entry) => (entry.line === line ? (rest.shift() ?? entry) : entry)),
  }
}
