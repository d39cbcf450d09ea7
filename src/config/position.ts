import type { Position, SinglePosition } from '../contract/level.js'

type ParsedSingle = { ok: true; at: SinglePosition; rule: string } | { ok: false; reason: string; hint: string }
type ParsedPosition = { ok: true; at: Position; rule: string } | { ok: false; reason: string; hint: string }

const EXAMPLES = '`70%`, `70% of window`, `150k`, `20k before compaction` or two of them, such as `85% or 300k`'
const UNITS: Record<string, number> = { '': 1, k: 1_000, m: 1_000_000 }
/** Smallest number accepted without a unit: a smaller one could mean percent or thousands. */
const SMALLEST_PLAIN = 1_000
const LONGEST = 64

/** Parses the position of a level as the user wrote it: a text, or a plain number of tokens. */
export function parsePosition(written: unknown): ParsedPosition {
  if (typeof written !== 'number' && typeof written !== 'string')
    return refuse('expected a position', `write ${EXAMPLES}`)
  const rule = String(written).trim()
  if (rule.length > LONGEST) return refuse(`\`${rule.slice(0, 39)}…\` is not a position`, `write ${EXAMPLES}`)
  const parts = rule.split(/\s+or\s+/i)
  if (parts.length === 1) return parseSingle(rule)
  if (parts.length > 2)
    return refuse(`\`${rule}\` has ${parts.length} positions`, 'use at most two, such as `85% or 300k`')
  const [first, second] = parts.map(parseSingle) as [ParsedSingle, ParsedSingle]
  if (!first.ok) return first
  if (!second.ok) return second
  const order = comparePositions(first.at, second.at)
  if (order !== null) {
    const earlier = order <= 0 ? first : second
    const later = order <= 0 ? second : first
    return refuse(
      `\`${later.rule}\` has no effect, because \`${earlier.rule}\` always comes first`,
      `write \`${earlier.rule}\``,
    )
  }
  return { ok: true, rule, at: { of: 'first', positions: [first.at, second.at] } }
}

function parseSingle(rule: string): ParsedSingle {
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

function parsePercent(rule: string, percent: number, rest: string): ParsedSingle {
  if (Number.isNaN(percent)) return refuse(`\`${rule}\` is not a position`, `write ${EXAMPLES}`)
  if (percent <= 0)
    return refuse(`\`${rule}\` must be above 0`, 'write a percentage above 0 and at most 100, such as `70%`')
  if (percent > 100)
    return refuse(`\`${rule}\` is above 100%`, 'write a percentage above 0 and at most 100, such as `70%`')
  if (/^(?:of )?(?:the )?(?:compaction(?: point)?)?$/.test(rest))
    return { ok: true, rule, at: { of: 'compaction', percent } }
  if (/^(?:of )?(?:the )?(?:context )?window$/.test(rest)) return { ok: true, rule, at: { of: 'window', percent } }
  if (/^(?:before|remaining|left|free)/.test(rest)) {
    return refuse(
      `\`${rule}\` counts what is left, but a percentage counts what is used`,
      `write \`${roundNumber(100 - percent)}%\``,
    )
  }
  return refuse(
    `a percentage cannot refer to \`${rest}\``,
    `write \`${roundNumber(percent)}%\` or \`${roundNumber(percent)}% of window\``,
  )
}

function parseTokens(rule: string, figure: number, unit: string, before: boolean): ParsedSingle {
  if (Number.isNaN(figure)) return refuse(`\`${rule}\` is not a position`, `write ${EXAMPLES}`)
  if (figure <= 0) return refuse(`\`${rule}\` must be above 0`, `write ${EXAMPLES}`)
  if (unit === '' && figure < SMALLEST_PLAIN)
    return refuse(`\`${rule}\` has no unit`, `write ${withUnit(figure, before)}`)
  const tokens = Math.round(figure * UNITS[unit]! * 1_000) / 1_000
  if (!Number.isSafeInteger(tokens)) return refuse(`\`${rule}\` is not a whole number of tokens`, `write ${EXAMPLES}`)
  return { ok: true, rule, at: before ? { of: 'before-compaction', tokens } : { of: 'tokens', tokens } }
}

function withUnit(figure: number, before: boolean): string {
  if (before) return `\`${roundNumber(figure)}k before compaction\``
  if (figure < 1) return `\`${roundNumber(figure * 100)}%\``
  return figure <= 100 ? `\`${roundNumber(figure)}%\` or \`${roundNumber(figure)}k\`` : `\`${roundNumber(figure)}k\``
}

/**
 * Compares two positions without a session: below 0 when `a` comes first.
 * Null when only a session can tell. A position of two places counts as the earlier one.
 */
export function comparePositions(a: Position, b: Position): number | null {
  const [as, bs] = [singlePositions(a), singlePositions(b)]
  if (isBefore(as, bs, (order) => order < 0)) return -1
  if (isBefore(bs, as, (order) => order < 0)) return 1
  const isEqual = isBefore(as, bs, (order) => order <= 0) && isBefore(bs, as, (order) => order <= 0)
  return isEqual ? 0 : null
}

function singlePositions(at: Position): readonly SinglePosition[] {
  return at.of === 'first' ? at.positions : [at]
}

/** Returns true when each place of `bs` has a place of `as` before it. */
function isBefore(
  as: readonly SinglePosition[],
  bs: readonly SinglePosition[],
  fits: (order: number) => boolean,
): boolean {
  return bs.every((b) =>
    as.some((a) => {
      const order = compareSingle(a, b)
      return order !== null && fits(order)
    }),
  )
}

function compareSingle(a: SinglePosition, b: SinglePosition): number | null {
  if (a.of === 'before-compaction' && b.of === 'before-compaction') return b.tokens - a.tokens
  if (a.of === 'tokens' && b.of === 'tokens') return a.tokens - b.tokens
  if ((a.of === 'compaction' || a.of === 'window') && a.of === b.of) return a.percent - (b as typeof a).percent
  return null
}

function roundNumber(figure: number): string {
  return String(Math.round(figure * 100) / 100)
}

function refuse(reason: string, hint: string): { ok: false; reason: string; hint: string } {
  return { ok: false, reason, hint }
}
