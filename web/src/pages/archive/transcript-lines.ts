import type { TranscriptPart } from '../../../../src/contract/api/archives.js'

export type TranscriptEntry = TranscriptPart['entries'][number]

/** Item of a transcript: a message, or a tool call with its result. */
export interface TranscriptItem {
  /** Key that stays the same while more lines are loaded around the item. */
  key: string
  kind: 'said' | 'tool' | 'summary'
  entry: TranscriptEntry
  /** Result of a tool call. Null when it is not loaded or never arrived. */
  result: TranscriptEntry | null
}

/** Groups entries into items. A call and its result are one item at the place of the call. */
export function readItems(entries: readonly TranscriptEntry[]): TranscriptItem[] {
  const calls = new Map<string, TranscriptItem>()
  const items: TranscriptItem[] = []
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
    const item: TranscriptItem = { key: `${entry.line}-${nth}`, kind: kindOf(entry), entry, result: null }
    items.push(item)
    if (entry.role === 'call' && entry.call_id !== null) calls.set(entry.call_id, item)
  }
  return items
}

function kindOf({ role }: TranscriptEntry): TranscriptItem['kind'] {
  return role === 'call' || role === 'result' ? 'tool' : role === 'summary' ? 'summary' : 'said'
}

/** Item in a line. If the line has none, the next item, or else the last one. */
export function itemAt(items: readonly TranscriptItem[], line: number): TranscriptItem | undefined {
  return (
    items.find(({ entry, result }) => entry.line === line || result?.line === line) ??
    items.find(({ entry }) => entry.line > line) ??
    items.at(-1)
  )
}

/** Subject of a tool call in one line, without the tool's name. */
export function aboutCall({ text, tool }: TranscriptEntry): string {
  const about = tool !== null && text.startsWith(`${tool} `) ? text.slice(tool.length + 1) : text === tool ? '' : text
  return firstLine(about)
}

/** Short description of a tool's result: `ok` or `failed`, and its size. */
export function aboutResult(result: TranscriptEntry | null): string {
  if (result === null) return ''
  const lines = result.text === '' ? 0 : result.text.split('\n').length
  const size =
    lines === 0 ? 'empty' : lines === 1 ? firstLine(result.text, 32) : `${lines}${result.cut ? '+' : ''} lines`
  return result.ok === false ? `failed, ${size}` : size
}

export function firstLine(text: string, most = 200): string {
  const line = text.trimStart().split('\n', 1)[0]!.trimEnd()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

interface Folded {
  shown: string
  /** Number of hidden lines. 0 when the whole text is shown. */
  hidden: number
}

/** Cuts a long text to at most that many lines and characters. */
export function foldText(text: string, lines = 24, characters = 2_400): Folded {
  const all = text.split('\n')
  const few = all.slice(0, lines).join('\n')
  const shown = few.length > characters ? few.slice(0, characters) : few
  // Two more lines are shown at once instead of a button to unfold them.
  if (all.length <= lines + 2 && text.length <= characters * 1.2) return { shown: text, hidden: 0 }
  return { shown, hidden: Math.max(1, all.length - shown.split('\n').length) }
}

/**
 * The loaded part of a transcript, which may have a hundred thousand lines.
 * Lines far from the reading position are dropped and loaded again later.
 * Lines are never divided.
 */
export interface ReadingWindow {
  readonly entries: readonly TranscriptEntry[]
  /** Line before which to load more. Null when the window starts at the first line. */
  readonly before: number | null
  /** Line from which to load more. Null when the window ends at the last line. */
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

/** Index of the first entry at or after `at` that starts a line, or of its own line's start. */
function lineStart(entries: readonly TranscriptEntry[], at: number): number {
  const next = entries.findIndex(({ line }, place) => place >= at && line !== entries[place - 1]?.line)
  return next < 0 ? entries.length : next
}

/** True when the window has the entries of a line, or of its neighbours if the line is empty. */
export function windowHasLine({ entries, before, from }: ReadingWindow, line: number): boolean {
  const [first, last] = [entries[0]?.line ?? 0, entries.at(-1)?.line ?? 0]
  return (before === null || first <= line) && (from === null || last >= line)
}

/** Replaces the entries of a line, whose text the server had cut, by the full ones. */
export function withFullLine(window: ReadingWindow, whole: readonly TranscriptEntry[]): ReadingWindow {
  const line = whole[0]?.line
  const rest = whole.slice()
  return {
    ...window,
    entries: window.entries.map((entry) => (entry.line === line ? (rest.shift() ?? entry) : entry)),
  }
}
