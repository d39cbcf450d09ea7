import type { FactKind } from '../contract/fact.js'

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

/** One line, whatever it was; cut where it is too long, saying so. */
export function oneLine(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`
}

/** As a quotation, every line of it; a longer one says how much is left out. */
export function quoted(text: string, longest: number): string {
  const whole = text.trim()
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
