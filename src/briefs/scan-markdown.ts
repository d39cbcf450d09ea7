/**
 * Kind of a line of Markdown:
 * `plain`: the author's own text, such as a paragraph, heading or list.
 * `quoted`: in a block quotation.
 * `fenced`: in a code fence, `<pre>`, `<blockquote>` or HTML comment, or one of its delimiters.
 */
type LineKind = 'plain' | 'quoted' | 'fenced'

interface ScannedMarkdown {
  /** Kind of each line. */
  kinds: LineKind[]
  /** Number of blocks of code or HTML. */
  fences: number
  /** Delimiter that closes a fence still open at the end. Null when none is open. */
  openFence: string | null
}

interface Container {
  isQuote: boolean
  /** Minimum indentation of a line in a list item, in columns. */
  offset: number
}

interface Fence {
  /** Number of containers around the fence. */
  depth: number
  /** Lengths of this fence and of those opened in it, innermost last. Empty for HTML. */
  lengths: number[]
  character: string
  /** Matches the end of an HTML block. Null for a code fence. */
  htmlEnd: RegExp | null
  /** Number of open `<blockquote>` elements; 0 for other blocks. */
  quotations: number
  /**
   * True when its list ended before the fence was closed, so that its end may have any indentation.
   */
  hasLostList: boolean
}

const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?= |$)/
const BLOCKQUOTE = /^ {0,3}<blockquote(?=[\s>]|$)/i
const BLOCKQUOTE_END = /<\/blockquote\s*>/i
const HTML = /^ {0,3}<(pre|script|style|textarea)(?=[\s>]|$)/i

/**
 * Parses the block structure of Markdown as CommonMark defines it, to find quotations.
 * Two rules differ from CommonMark, because agents write and mean it so.
 * First, a fence with a language opens another fence inside a fence of the same length.
 * Second, text with too little indentation does not end a fence in a list.
 */
export function scanMarkdown(lines: readonly string[]): ScannedMarkdown {
  let containers: Container[] = []
  let fence: Fence | null = null
  let fences = 0
  const kinds = lines.map((line): LineKind => {
    let rest = withoutTabs(line)
    let kept = 0
    for (const container of containers) {
      const inner = withoutContainerMarks(container, rest)
      if (inner === null) break
      rest = inner
      kept++
    }
    const ended = containers.slice(kept)
    containers = containers.slice(0, kept)
    if (fence !== null && fence.depth > kept) {
      if (ended.some(({ isQuote }) => isQuote)) fence = null
      else fence = { ...fence, depth: kept, hasLostList: true }
    }
    if (fence !== null) {
      fence = fenceAfterLine(fence, rest)
      return 'fenced'
    }
    for (let opened = openContainer(rest); opened !== null; opened = openContainer(rest)) {
      containers.push(opened.container)
      rest = opened.rest
    }
    fence = openFence(rest, containers.length)
    if (fence !== null) fences++
    if (fence !== null || /^ {0,3}<!--/.test(rest)) return 'fenced'
    return containers.some(({ isQuote }) => isQuote) ? 'quoted' : 'plain'
  })
  const open = fence as Fence | null
  return { kinds, fences, openFence: open === null || open.htmlEnd ? null : open.character.repeat(open.lengths[0]!) }
}

/** Closes a fence that is open at the end of the text, so that appended text is not code. */
export function closeFence(text: string): string {
  const { openFence } = scanMarkdown(text.split('\n'))
  return openFence === null ? text : `${text}\n${openFence}`
}

/** Expands leading tabs to columns that are multiples of four. */
function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line
  const lead = /^[\s>*+\-\d.)]{0,200}/.exec(line)![0]
  let columns = ''
  for (const sign of lead) columns += sign === '\t' ? ' '.repeat(4 - (columns.length % 4)) : sign
  return columns + line.slice(lead.length)
}

/** Returns the rest of a line after a container's marks. Null when the line is not part of it. */
function withoutContainerMarks({ isQuote, offset }: Container, line: string): string | null {
  if (isQuote) return QUOTE.test(line) ? line.replace(QUOTE, '') : null
  if (line.trim() === '') return ''
  return line.startsWith(' '.repeat(offset)) ? line.slice(offset) : null
}

function openContainer(line: string): { container: Container; rest: string } | null {
  const quote = QUOTE.exec(line)?.[0]
  if (quote !== undefined) return { container: { isQuote: true, offset: 0 }, rest: line.slice(quote.length) }
  const marker = ITEM.exec(line)?.[0]
  if (marker === undefined) return null
  const spaces = /^ */.exec(line.slice(marker.length))![0].length
  const isBlank = spaces === line.length - marker.length
  // Five spaces after a list marker mean a separator and the four that indent a code block.
  const offset = marker.length + (isBlank || spaces > 4 ? 1 : spaces)
  return { container: { isQuote: false, offset }, rest: line.slice(offset) }
}

function openFence(line: string, depth: number): Fence | null {
  const blank = { depth, lengths: [], character: '', htmlEnd: null, quotations: 0, hasLostList: false }
  const found = FENCE.exec(line)
  const mark = found?.[1] ?? found?.[3]
  if (mark !== undefined) return { ...blank, lengths: [mark.length], character: mark[0]! }
  if (BLOCKQUOTE.test(line)) {
    const quotations = quotationsOpenedIn(line)
    return quotations > 0 ? { ...blank, htmlEnd: BLOCKQUOTE_END, quotations } : null
  }
  const tag = HTML.exec(line)?.[1]
  if (tag !== undefined) {
    const htmlEnd = new RegExp(`</${tag}>`, 'i')
    return htmlEnd.test(line) ? null : { ...blank, htmlEnd }
  }
  return /^ {0,3}<!--/.test(line) && !line.includes('-->') ? { ...blank, htmlEnd: /-->/ } : null
}

/** Returns the state of a fence after a line. Null when the line ends it. */
function fenceAfterLine(fence: Fence, line: string): Fence | null {
  const { lengths, character, htmlEnd, hasLostList } = fence
  if (fence.quotations > 0) {
    const quotations = fence.quotations + quotationsOpenedIn(line)
    return quotations > 0 ? { ...fence, quotations } : null
  }
  if (htmlEnd) return htmlEnd.test(line) ? null : fence
  const found = FENCE.exec(hasLostList ? line.trimStart() : line)
  const mark = found?.[1] ?? found?.[3] ?? ''
  if (mark[0] !== character || mark.length < lengths.at(-1)!) return fence
  const hasLanguage = (found?.[2] ?? found?.[4] ?? '').trim() !== ''
  const inside = hasLanguage ? [...lengths, mark.length] : lengths.slice(0, -1)
  return inside.length === 0 ? null : { ...fence, lengths: inside }
}

/** Returns how many `<blockquote>` a line opens minus how many it closes. */
function quotationsOpenedIn(line: string): number {
  return line.split(/<blockquote(?=[\s>]|$)/i).length - line.split(BLOCKQUOTE_END).length
}
