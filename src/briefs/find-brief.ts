import { scanMarkdown } from './scan-markdown.js'
import { ADDITIONS_TITLE } from './sections.js'
import { findHeadings } from './split-brief.js'

/** Minimum length of a brief without sections; a shorter text is only about a brief. */
const MIN_LENGTH = 200
/** Maximum number of titles that are tried, because an answer may be very long. */
const MOST_TITLES = 20
/** Characters of an answer that are checked for content. */
const MAX_CHECKED = 100_000
const FENCE_MARK = /^\s*(`{3,}|~{3,})/
/** Matches `# Handoff brief` at any level, bold or not, with a name after it. */
const TITLE_LINE = new RegExp(
  String.raw`^ {0,3}(#{1,6})\s*(?:\*\*|__)?\s*(?:[^\p{L}\p{N}\s]{1,4}\s*)?(?:(?:baton|session|updated|` +
    String.raw`final) )?handoff[ -]brief\b([^\n]*)$`,
  'iu',
)
const BOLD_TITLE = /^ {0,3}(?:\*\*|__)\s*handoff[ -]brief\b([^\n*_]{0,80})(?:\*\*|__)\s*:?\s*$/iu
const UNDERLINED = /^ {0,3}handoff[ -]brief\s*$/iu
/**
 * Matches what may follow the title: nothing, or a mark and a name.
 * "Handoff brief format" is a text about briefs.
 */
const AFTER_TITLE = /^\s*(?:(?:\*\*|__)?\s*)?(?:$|[:–—(#|/,.-]|(?:\*\*|__)|(?:for|of|no|v)\b|v?\d)/iu

/**
 * Returns the brief in an agent's answer, from its title to the end.
 * Null when it is missing or empty.
 * A brief in a code fence or quotation is shown by the agent, and may come from a file or web page.
 * If the answer contains several other briefs, the last one counts.
 * If the whole answer is one code fence, the fence's content counts as the answer.
 */
export function findBrief(answer: string): string | null {
  const lines = linesOf(answer)
  const own = lastBrief(lines)
  if (own !== null) return own
  const inner = insideOfFence(lines)
  return inner === null ? null : lastBrief(inner)
}

/**
 * True when an answer without its own brief shows one in a code fence or quotation.
 * The agent may have meant it as its brief.
 */
export function showsBrief(answer: string): boolean {
  const plain = linesOf(answer).map((line) => line.replace(/^[ >]+/, ''))
  return plain.some((line, at) => isTitle(line, plain[at + 1]) && hasContent(plain.slice(at)))
}

const linesOf = (answer: string): string[] => answer.replace(/\r\n?/g, '\n').split('\n')

function lastBrief(lines: readonly string[]): string | null {
  const { kinds } = scanMarkdown(lines)
  const titles = lines.flatMap((line, at) => (kinds[at] === 'plain' && isTitle(line, lines[at + 1]) ? [at] : []))
  const last = titles
    .slice(-MOST_TITLES)
    .reverse()
    .find((at) => hasContent(lines.slice(at)))
  return last === undefined ? null : lines.slice(last).join('\n').trimEnd()
}

function isTitle(line: string, next: string | undefined): boolean {
  if (line.length > 300) return false
  const behind = (TITLE_LINE.exec(line)?.[2] ?? BOLD_TITLE.exec(line)?.[1])?.trimEnd()
  if (behind !== undefined) return AFTER_TITLE.test(behind)
  return UNDERLINED.test(line) && /^ {0,3}=+\s*$/.test(next ?? '')
}

/** Returns the content if the whole text is one code fence, closed or not. Null otherwise. */
function insideOfFence(lines: readonly string[]): string[] | null {
  const isText = (line: string): boolean => line.trim() !== ''
  const whole = lines.slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1)
  if (!FENCE_MARK.test(whole[0] ?? '')) return null
  const { kinds, fences, openFence } = scanMarkdown(whole)
  if (fences !== 1 || kinds.some((kind) => kind !== 'fenced')) return null
  return openFence === null ? whole.slice(1, -1) : whole.slice(1)
}

function hasContent(brief: readonly string[]): boolean {
  const lines = brief.join('\n').slice(0, MAX_CHECKED).split('\n').slice(1)
  const heads = findHeadings(lines)
  const marked = new Set(heads.map(({ line }) => line))
  const said = lines
    .filter((line, i) => !marked.has(i) && !FENCE_MARK.test(line))
    .join('')
    .replace(/[\s\p{P}\p{S}]/gu, '')
  return said.length >= MIN_LENGTH || (said.length > 0 && heads.some(({ heading }) => heading !== ADDITIONS_TITLE))
}
