/**
 * As much of Markdown as makes a brief readable. Nothing is left out and nothing is followed: links, HTML and comments stay the text they
 * are, for what a reader does not see here an agent would still read.
 */
export type Block = { line: number } & (
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'quote'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; items: ListItem[] }
  | { kind: 'rule' }
)

export interface ListItem {
  depth: number
  /** `1.` of an ordered list; null: a point. */
  mark: string | null
  /** Of a todo; null: none. */
  done: boolean | null
  text: string
}

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/
const ITEM = /^(\s*)([-*+•]|\d{1,4}[.)])\s+(\[[ xX]\]\s+)?(.*)$/
const FENCE = /^\s*(`{3,}|~{3,})/
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/
const TABLE = /^\s*\|/

/** `line`: where each block begins, from 0. */
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
  if (fence) return fenced(lines, line, fence[1]!)
  const heading = HEADING.exec(first)
  if (heading) return [{ kind: 'heading', line, level: heading[1]!.length, text: heading[2]! }, line + 1]
  if (RULE.test(first)) return [{ kind: 'rule', line }, line + 1]
  if (ITEM.test(first)) return list(lines, line)
  const kind = first.startsWith('>') ? 'quote' : TABLE.test(first) ? 'code' : 'paragraph'
  const end = endOf(lines, line, kind)
  const own = lines.slice(line, end)
  const text = (kind === 'quote' ? own.map((each) => each.replace(/^> ?/, '')) : own).join('\n')
  return [{ kind, line, text }, end]
}

function fenced(lines: readonly string[], line: number, fence: string): [Block, number] {
  const closes = (each: string): boolean => each.trim().startsWith(fence) && each.trim().replaceAll(fence[0]!, '') === ''
  let end = line + 1
  while (end < lines.length && !closes(lines[end]!)) end++
  return [{ kind: 'code', line, text: lines.slice(line + 1, end).join('\n') }, end + 1]
}

function endOf(lines: readonly string[], line: number, kind: 'quote' | 'code' | 'paragraph'): number {
  const belongs = (each: string): boolean => {
    if (kind === 'quote') return each.startsWith('>')
    if (kind === 'code') return TABLE.test(each)
    return each.trim() !== '' && !each.startsWith('>') && ![HEADING, ITEM, FENCE, RULE, TABLE].some((form) => form.test(each))
  }
  let end = line + 1
  while (end < lines.length && belongs(lines[end]!)) end++
  return end
}

function list(lines: readonly string[], line: number): [Block, number] {
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

export interface Span {
  kind: 'text' | 'code' | 'strong'
  text: string
}

/** Code and emphasis within a line; a star that closes nothing is a star. */
export function spansOf(text: string): Span[] {
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

/** Where what Baton appended begins; null: it appended nothing. */
export function addedFrom(text: string, added: readonly string[]): number | null {
  const first = added.find((line) => line.trim() !== '')
  if (first === undefined) return null
  const at = text.split('\n').findLastIndex((line) => line.trim() === first.trim())
  return at < 0 ? null : at
}
