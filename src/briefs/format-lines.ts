import type { FactKind } from '../contract/fact.js'
import { sanitizeName, sanitizeText } from '../lib/quote.js'

/** Titles for missing facts by kind, in the order they are listed. */
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
  finding: 'Findings',
}

/**
 * Turns a text of another author into one line and removes its control characters.
 * Removes marks of Baton and of the client, too. Cuts a long text and marks the cut.
 */
export function toOneLine(text: string, longest: number): string {
  const line = sanitizeName(text)
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`
}

/** Matches the start of a heading, fence or quotation, also after list marks. */
const BLOCK_MARK = /^((?:(?:[-+*]|\d{1,9}[.)])\s)*)(?=#{1,6}(?:\s|$)|`{3}|~{3}|>|<)/

/**
 * Formats a text as a list line that contains only text: a todo named "## Next step" is no heading.
 */
export function listLine(text: string, longest: number): string {
  return `- ${toOneLine(text, longest).replace(BLOCK_MARK, '$1\\')}`
}

/** Formats a text as a quotation; a longer text is cut and says how much is omitted. */
export function toQuotation(text: string, longest: number): string {
  const whole = sanitizeText(text).trim()
  if (whole.length <= longest) return whole.replace(/^/gm, '> ')
  const kept = whole.slice(0, longest).trimEnd()
  const omitted = whole.length - kept.length
  return `${kept.replace(/^/gm, '> ')}…\n(cut here: the transcript has ${omitted} more characters)`
}

/** Returns the beginning and end of a text, because the middle of a long answer is needed least. */
export function beginningAndEnd(text: string, longest: number): string {
  const whole = text.trim()
  if (whole.length <= longest) return whole
  const head = whole.slice(0, Math.floor(longest * 0.4)).trimEnd()
  const tail = whole.slice(-Math.floor(longest * 0.6)).trimStart()
  return `${head}\n[… ${whole.length - head.length - tail.length} characters omitted …]\n${tail}`
}
