import { createElement, memo, type ReactNode, useMemo, useState } from 'react'
import { countedNoun } from '../../parts/format.js'

/**
 * Text of a brief with headings, lists and code, rendered as text nodes and never as markup.
 * Baton's additions are shown in a section of their own.
 */
export const BriefText = memo(function BriefText({ text, added = [] }: { text: string; added?: readonly string[] }) {
  const blocks = parseMarkdown(text)
  const from = firstAddedLine(text, added)
  const authored = from === null ? blocks : blocks.filter(({ line }) => line < from)
  const additions = from === null ? [] : blocks.filter(({ line }) => line >= from)
  return (
    <div className="prose">
      {authored.map(blockOf)}
      {additions.length > 0 && (
        <section className="added" aria-label="Added by Baton">
          <p className="added-note">Not by the author: Baton took this from the transcript, without a model</p>
          {additions.map(blockOf)}
        </section>
      )}
    </div>
  )
})

function blockOf(block: Block): ReactNode {
  const key = block.line
  switch (block.kind) {
    case 'heading':
      // Levels 1 and 2 are the headings of the page and of this section.
      return createElement(`h${Math.min(6, block.level + 2)}`, { key, 'data-level': block.level }, inline(block.text))
    case 'paragraph':
      return (
        <p key={key} className={block.text.startsWith('<!--') ? 'quiet' : undefined}>
          {inline(block.text)}
        </p>
      )
    case 'quote':
      return <blockquote key={key}>{inline(block.text)}</blockquote>
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        <pre key={key} tabIndex={0}>
          {block.text}
        </pre>
      )
    case 'list':
      return (
        <ul key={key} className="prose-list">
          {block.items.map(itemOf)}
        </ul>
      )
    case 'rule':
      return <hr key={key} />
  }
}

function itemOf({ depth, mark, done, text }: ListItem, place: number): ReactNode {
  return (
    <li key={place} style={{ marginInlineStart: `${depth * 1.25}rem` }} data-done={done ?? undefined}>
      <span className="prose-mark" aria-hidden={mark === null}>
        {done === null ? (mark ?? '–') : done ? '☑' : '☐'}
      </span>
      <span>
        {done !== null && <span className="unseen">{done ? 'done: ' : 'open: '}</span>}
        {inline(text)}
      </span>
    </li>
  )
}

function inline(text: string): ReactNode {
  return inlineSpans(text).map((span, place) => {
    if (span.kind === 'text') return span.text
    return createElement(span.kind, { key: place }, span.text)
  })
}

/**
 * Block of the Markdown subset that makes a brief readable.
 * Links, HTML and comments are shown as text, because an agent would read what a user cannot see.
 */
type Block = { line: number } & (
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'quote'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; items: ListItem[] }
  | { kind: 'rule' }
)

interface ListItem {
  depth: number
  /** Number of an item in an ordered list, as `1.`. Null in an unordered list. */
  mark: string | null
  /** State of a todo's checkbox. Null when the item has no checkbox. */
  done: boolean | null
  text: string
}

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/
const ITEM = /^(\s*)([-*+•]|\d{1,4}[.)])\s+(\[[ xX]\]\s+)?(.*)$/
const FENCE = /^\s*(`{3,}|~{3,})/
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/
const TABLE = /^\s*\|/

/** Parses a text into blocks. `line` is the number of a block's first line, from 0. */
export function parseMarkdown(text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at)
    if (block !== null) blocks.push(block)
    at = next
  }
  return blocks
}

function blockAt(lines: readonly string[], line: number): [Block | null, number] {
  const first = lines[line]!
  if (first.trim() === '') return [null, line + 1]
  const fence = FENCE.exec(first)
  if (fence) return parseFence(lines, line, fence[1]!)
  const heading = HEADING.exec(first)
  if (heading) return [{ kind: 'heading', line, level: heading[1]!.length, text: heading[2]! }, line + 1]
  if (RULE.test(first)) return [{ kind: 'rule', line }, line + 1]
  if (ITEM.test(first)) return parseList(lines, line)
  const kind = first.startsWith('>') ? 'quote' : TABLE.test(first) ? 'code' : 'paragraph'
  const end = endOf(lines, line, kind)
  const blockLines = lines.slice(line, end)
  const text = (kind === 'quote' ? blockLines.map((each) => each.replace(/^> ?/, '')) : blockLines).join('\n')
  return [{ kind, line, text }, end]
}

function parseFence(lines: readonly string[], line: number, fence: string): [Block, number] {
  const closes = (each: string): boolean =>
    each.trim().startsWith(fence) && each.trim().replaceAll(fence[0]!, '') === ''
  let end = line + 1
  while (end < lines.length && !closes(lines[end]!)) end++
  return [{ kind: 'code', line, text: lines.slice(line + 1, end).join('\n') }, end + 1]
}

function endOf(lines: readonly string[], line: number, kind: 'quote' | 'code' | 'paragraph'): number {
  const belongs = (each: string): boolean => {
    if (kind === 'quote') return each.startsWith('>')
    if (kind === 'code') return TABLE.test(each)
    return (
      each.trim() !== '' &&
      !each.startsWith('>') &&
      ![HEADING, ITEM, FENCE, RULE, TABLE].some((form) => form.test(each))
    )
  }
  let end = line + 1
  while (end < lines.length && belongs(lines[end]!)) end++
  return end
}

function parseList(lines: readonly string[], line: number): [Block, number] {
  const items: ListItem[] = []
  const indents: number[] = []
  let end = line
  for (; end < lines.length; end++) {
    const each = lines[end]!
    const item = RULE.test(each) ? null : ITEM.exec(each)
    if (item) {
      const indent = item[1]!.replaceAll('\t', '    ').length
      while (indents.length > 0 && indents.at(-1)! > indent) indents.pop()
      if (indents.at(-1) !== indent) indents.push(indent)
      const box = item[3]?.trim().toLowerCase()
      const mark = /^\d/.test(item[2]!) ? item[2]! : null
      items.push({ depth: indents.length - 1, mark, done: box === undefined ? null : box === '[x]', text: item[4]! })
    } else if (/^\s+\S/.test(each) && !FENCE.test(each)) items.at(-1)!.text += `\n${each.trim()}`
    else break
  }
  return [{ kind: 'list', line, items }, end]
}

interface Span {
  kind: 'text' | 'code' | 'strong'
  text: string
}

/** Splits a line into text, code and emphasis. A star without its pair stays a star. */
export function inlineSpans(text: string): Span[] {
  const spans: Span[] = []
  let from = 0
  for (const found of text.matchAll(/(`+)(?!`)([^\n]*?[^`])\1(?!`)|\*\*(?=\S)([^\n]*?\S)\*\*/g)) {
    if (found.index > from) spans.push({ kind: 'text', text: text.slice(from, found.index) })
    spans.push(found[1] === undefined ? { kind: 'strong', text: found[3]! } : { kind: 'code', text: found[2]! })
    from = found.index + found[0].length
  }
  if (from < text.length) spans.push({ kind: 'text', text: text.slice(from) })
  return spans
}

/** Line at which Baton's additions begin. Null when it added nothing. */
export function firstAddedLine(text: string, added: readonly string[]): number | null {
  const first = added.find((line) => line.trim() !== '')
  if (first === undefined) return null
  const at = text.split('\n').findLastIndex((line) => line.trim() === first.trim())
  return at < 0 ? null : at
}

/** Line-by-line difference to the previous brief of the seat. */
export function BriefDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => lineDiff(before, after), [before, after])
  const gone = lines.filter(({ kind }) => kind === 'gone').length
  const fresh = lines.filter(({ kind }) => kind === 'new').length
  if (gone + fresh === 0) return <p className="quiet">Both briefs have the same text.</p>
  return (
    <>
      <p className="diff-sum">
        <span data-kind="new">+ {countedNoun(fresh, 'line')}</span>{' '}
        <span data-kind="gone">− {countedNoun(gone, 'line')}</span>
      </p>
      <section className="diff" aria-label={label}>
        {foldUnchanged(lines).map((part) => (
          <Part key={`${part.lines[0]!.before} ${part.lines[0]!.after}`} part={part} />
        ))}
      </section>
    </>
  )
}

function Part({ part }: { part: DiffPart }) {
  const [open, setOpen] = useState(!part.folded)
  if (!open)
    return (
      <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
        Show {countedNoun(part.lines.length, 'unchanged line')}
      </button>
    )
  return part.lines.map((line) => <Line key={`${line.before} ${line.after}`} line={line} />)
}

const CHANGE_SIGNS = { same: ' ', gone: '−', new: '+' } as const
const CHANGE_LABELS = { same: '', gone: 'removed: ', new: 'added: ' } as const

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  return (
    <div className="diff-line" data-kind={kind}>
      <span className="diff-number" aria-hidden="true">
        {after ?? before}
      </span>
      <span className="diff-sign" aria-hidden="true">
        {CHANGE_SIGNS[kind]}
      </span>
      <span className="diff-text">
        {CHANGE_LABELS[kind] !== '' && <span className="unseen">{CHANGE_LABELS[kind]}</span>}
        {text}
      </span>
    </div>
  )
}

/** Line of a difference: unchanged, removed or added. */
interface DiffLine {
  kind: 'same' | 'gone' | 'new'
  text: string
  /** Line number from 1. Null when the line is not in that text. */
  before: number | null
  after: number | null
}

/** Beyond this number of changed lines the middle is shown as replaced: nobody reads that much. */
const MAX_DIFFERENCES = 1_500

/** Computes the smallest difference between two texts, after Myers (1986). */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const kept = shortestEdit(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail))
  return mergeLines(old, fresh, [
    ...range(head).map((at) => [at, at] as const),
    ...kept.map(([a, b]) => [a + head, b + head] as const),
    ...range(tail).map((at) => [old.length - tail + at, fresh.length - tail + at] as const),
  ])
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
const range = (length: number): number[] => Array.from({ length }, (_, at) => at)

/** Lists all lines. `pairs` are the unchanged ones; between them removed lines come first. */
function mergeLines(
  old: readonly string[],
  fresh: readonly string[],
  pairs: readonly (readonly [number, number])[],
): DiffLine[] {
  const lines: DiffLine[] = []
  let [a, b] = [0, 0]
  for (const [toA, toB] of [...pairs, [old.length, fresh.length] as const]) {
    while (a < toA) lines.push({ kind: 'gone', text: old[a]!, before: ++a, after: null })
    while (b < toB) lines.push({ kind: 'new', text: fresh[b]!, before: null, after: ++b })
    if (a < old.length && b < fresh.length) lines.push({ kind: 'same', text: old[a]!, before: ++a, after: ++b })
  }
  return lines
}

/** Pairs of equal lines on a shortest edit path through both texts. */
function shortestEdit(old: readonly string[], fresh: readonly string[]): [number, number][] {
  const [n, m] = [old.length, fresh.length]
  if (n === 0 || m === 0) return []
  const most = Math.min(n + m, MAX_DIFFERENCES)
  // Furthest index reached in `old` on each diagonal, by number of differences, for the backtrack.
  let furthest = new Int32Array([0])
  const trace: Int32Array[] = []
  const at = (row: Int32Array, differences: number, diagonal: number): number =>
    row[(diagonal + differences) >> 1] ?? -1
  for (let d = 0; d <= most; d++) {
    const row = new Int32Array(d + 1)
    for (let k = -d; k <= d; k += 2) {
      const isInsertion = d > 0 && (k === -d || (k !== d && at(furthest, d - 1, k - 1) < at(furthest, d - 1, k + 1)))
      let x = d === 0 ? 0 : isInsertion ? at(furthest, d - 1, k + 1) : at(furthest, d - 1, k - 1) + 1
      while (x < n && x - k < m && old[x] === fresh[x - k]) x++
      row[(k + d) >> 1] = x
      if (x >= n && x - k >= m) return backtrack([...trace, row], n, m)
    }
    trace.push(row)
    furthest = row
  }
  return []
}

function backtrack(trace: readonly Int32Array[], n: number, m: number): [number, number][] {
  const pairs: [number, number][] = []
  let [x, y] = [n, m]
  for (let d = trace.length - 1; d >= 0; d--) {
    const k = x - y
    const row = d === 0 ? null : trace[d - 1]!
    const of = (diagonal: number): number => row?.[(diagonal + d - 1) >> 1] ?? -1
    const isInsertion = d > 0 && (k === -d || (k !== d && of(k - 1) < of(k + 1)))
    const startX = d === 0 ? 0 : isInsertion ? of(k + 1) : of(k - 1) + 1
    while (x > startX) pairs.push([--x, --y])
    if (d === 0) break
    if (isInsertion) y--
    else x--
  }
  return pairs.reverse()
}

/** Part of a difference. `folded` is true for a run of unchanged lines that is hidden. */
type DiffPart = { folded: boolean; lines: DiffLine[] }

/** Folds unchanged lines that are more than `around` lines away from a change. */
export function foldUnchanged(lines: readonly DiffLine[], around = 3): DiffPart[] {
  const near = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.kind !== 'same') near.fill(1, Math.max(0, at - around), at + around + 1)
  })
  const parts: DiffPart[] = []
  lines.forEach((line, at) => {
    const isFolded = near[at] === 0
    const last = parts.at(-1)
    if (last !== undefined && last.folded === isFolded) last.lines.push(line)
    else parts.push({ folded: isFolded, lines: [line] })
  })
  // A single line takes no more room than the note that it is hidden.
  return parts.map((part) => (part.folded && part.lines.length < 2 ? { ...part, folded: false } : part))
}
