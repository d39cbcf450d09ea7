import type { Position } from '../contract/level.js'

export type ParsedPosition = { ok: true; at: Position; rule: string } | { ok: false; reason: string; hint: string }

const EXAMPLES = '`70%`, `70% of window`, `150k` or `20k before compaction`'
const UNITS: Record<string, number> = { '': 1, k: 1_000, m: 1_000_000 }
/** Below this a number without a unit may as well be a percentage or thousands. */
const SMALLEST_PLAIN = 1_000

/** Where a level stands, from what a person wrote: a text, or a plain number of tokens. */
export function parsePosition(written: unknown): ParsedPosition {
  if (typeof written !== 'number' && typeof written !== 'string') return refuse('expected a position', `write ${EXAMPLES}`)
  const rule = String(written).trim()
  const text = rule
    .toLowerCase()
    .replace(/(\d)_(?=\d)/g, '$1')
    .replace(/\s+/g, ' ')
  const percent = /^(-?[\d.]+) ?(?:%|percent)(?: ?(.*))?$/.exec(text)
  if (percent) return parsePercent(rule, Number(percent[1]), percent[2] ?? '')
  const tokens = /^(-?[\d.]+) ?([km]?)(?: ?(?:tokens?))?( before (?:the )?compaction(?: point)?)?$/.exec(text)
  if (tokens) return parseTokens(rule, Number(tokens[1]), tokens[2] ?? '', tokens[3] !== undefined)
  return refuse(`\`${rule}\` is not a position`, `write ${EXAMPLES}`)
}

function parsePercent(rule: string, percent: number, rest: string): ParsedPosition {
  if (Number.isNaN(percent)) return refuse(`\`${rule}\` is not a position`, `write ${EXAMPLES}`)
  if (percent <= 0) return refuse(`\`${rule}\` must be above 0`, 'write a percentage from above 0 to 100, such as `70%`')
  if (percent > 100) return refuse(`\`${rule}\` lies beyond 100%`, 'write a percentage from above 0 to 100, such as `70%`')
  if (/^(?:of )?(?:the )?(?:compaction(?: point)?)?$/.test(rest)) return { ok: true, rule, at: { of: 'compaction', percent } }
  if (/^(?:of )?(?:the )?(?:context )?window$/.test(rest)) return { ok: true, rule, at: { of: 'window', percent } }
  if (/^(?:before|remaining|left|free)/.test(rest)) {
    return refuse(`\`${rule}\` counts from the end; percentages count what is used`, `write \`${tidy(100 - percent)}%\``)
  }
  return refuse(`\`${rest}\` is nothing a percentage can be of`, `write \`${tidy(percent)}%\` or \`${tidy(percent)}% of window\``)
}

function parseTokens(rule: string, figure: number, unit: string, before: boolean): ParsedPosition {
  if (Number.isNaN(figure)) return refuse(`\`${rule}\` is not a position`, `write ${EXAMPLES}`)
  if (figure <= 0) return refuse(`\`${rule}\` must be above 0`, `write ${EXAMPLES}`)
  if (unit === '' && figure < SMALLEST_PLAIN) return refuse(`\`${rule}\` has no unit`, `write ${withUnit(figure, before)}`)
  const tokens = Math.round(figure * UNITS[unit]! * 1_000) / 1_000
  if (!Number.isSafeInteger(tokens)) return refuse(`\`${rule}\` is not a whole number of tokens`, `write ${EXAMPLES}`)
  return { ok: true, rule, at: before ? { of: 'before-compaction', tokens } : { of: 'tokens', tokens } }
}

function withUnit(figure: number, before: boolean): string {
  if (before) return `\`${tidy(figure)}k before compaction\``
  if (figure < 1) return `\`${tidy(figure * 100)}%\``
  return figure <= 100 ? `\`${tidy(figure)}%\` or \`${tidy(figure)}k\`` : `\`${tidy(figure)}k\``
}

/** How two positions stand to each other before any session is known: below 0 when `a` comes first; null when only a session can tell. */
export function comparePositions(a: Position, b: Position): number | null {
  if (a.of === 'before-compaction' && b.of === 'before-compaction') return b.tokens - a.tokens
  if (a.of === 'tokens' && b.of === 'tokens') return a.tokens - b.tokens
  if ((a.of === 'compaction' || a.of === 'window') && a.of === b.of) return a.percent - b.percent
  return null
}

function tidy(figure: number): string {
  return String(Math.round(figure * 100) / 100)
}

function refuse(reason: string, hint: string): ParsedPosition {
  return { ok: false, reason, hint }
}
