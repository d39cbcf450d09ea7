import type { TranscriptPart } from '../../../../src/contract/api/archives.js'
import type { Line } from './read-items.js'

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

export const MOST = 600

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

export function readOn(window: ReadingWindow, part: TranscriptPart): ReadingWindow {
  const all = [...window.entries, ...part.entries]
  const cut = all.length <= MOST ? 0 : lineStart(all, all.length - MOST)
  return {
    entries: all.slice(cut),
    before: cut === 0 ? window.before : all[cut]!.line,
    from: part.next_line,
    lines: part.lines ?? window.lines,
  }
}

export function readBack(window: ReadingWindow, part: TranscriptPart): ReadingWindow {
  const all = [...part.entries, ...window.entries]
  const cut = all.length <= MOST ? all.length : lineStart(all, MOST)
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
export function withWhole(window: ReadingWindow, whole: readonly Line[]): ReadingWindow {
  const line = whole[0]?.line
  const rest = whole.slice()
  return {
    ...window,
    entries: window.entries.map((entry) => (entry.line === line ? (rest.shift() ?? entry) : entry)),
  }
}
