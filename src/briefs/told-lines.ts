import type { FactKind } from '../contract/fact.js'
import { sanitizeName, sanitizeText } from '../lib/quote.js'

/** How what is missing is called, in the order it is told. */
export const KIND_TITLES: Record<FactKind, string> = {
  request: 'Last user request, word for word',
  constraint: 'Required or forbidden by the user',
  todo: 'Open todos',
  question: 'Open questions',
  test: 'Tests that fail',
  file: 'Files changed',
  decision: 'Decisions',
  error: 'Errors',
  branch: 'Branch',
  commit: 'Commits',
  command: 'Commands to verify',
}

/**
 * Turns a text of another author into one line: without line ends, control characters and marks of
 * Baton's or the client's own words. Cuts it where it is too long, and marks the cut.
 */
export function oneLine(text: string, longest: number): string {
  const line = sanitizeName(text)
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`
}

/** The beginning of a heading, a fence or a quotation, also behind the marks of lists. */
const BLOCK_MARK = /^((?:(?:[-+*]|\d{1,9}[.)])\s)*)(?=#{1,6}(?:\s|$)|`{3}|~{3}|>|<)/

/**
 * The same as a list's line, which holds nothing but text: a todo named "## Next step" is no
 * heading.
 */
export function listLine(text: string, longest: number): string {
  return `- ${oneLine(text, longest).replace(BLOCK_MARK, '$1\\')}`
}

/** As a quotation, every line of it; a longer one says how much is left out. */
export function quoted(text: string, longest: number): string {
  const whole = sanitizeText(text).trim()
  if (whole.length <= longest) return whole.replace(/^/gm, '> ')
  const kept = whole.slice(0, longest).trimEnd()
  return `${kept.replace(/^/gm, '> ')}…\n(cut here: ${whole.length - kept.length} more characters stand in the transcript)`
}

/** Beginning and end: of a long answer the middle is needed least. */
export function endsOf(text: string, longest: number): string {
  const whole = text.trim()
  if (whole.length <= longest) return whole
  const head = whole.slice(0, Math.floor(longest * 0.4)).trimEnd()
  const tail = whole.slice(-Math.floor(longest * 0.6)).trimStart()
  return `${head}\n[… ${whole.length - head.length - tail.length} characters left out …]\n${tail}`
}
