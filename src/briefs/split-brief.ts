import { scanMarkdown } from './scan-markdown.js'
import { ADDITIONS_TITLE, LATE_FINDINGS_TITLE, type SectionName, sectionOfHeading } from './sections.js'

export interface BriefPart {
  /** Heading without marks. Empty for text before the first heading. */
  heading: string
  /** Null when it is not one of the requested sections. */
  name: SectionName | null
  added: boolean
  /** Original text, including its heading. */
  text: string
}

/** Maximum number of headings; text after them belongs to the last. An answer may be very long. */
const MAX_HEADINGS = 2_000
const HEADING_CHARACTER = /[#*_]/
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/
const BOLD_LINE = /^\s{0,3}(?:\*\*|__)([^*_].{0,80}?)(?:\*\*|__)\s*:?\s*$/
/** Matches a heading with text on the same line: `**Next step:** run it`. */
const LEAD_IN = /^\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)([^*_:]{1,60})(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s*\S/
const TITLE = /^\W{0,4}(?:(?:baton|session|updated|final) )?handoff[ -]brief\b/i
const [BOLD_LEVEL, LEAD_IN_LEVEL] = [7, 8]

/**
 * Splits a brief into its parts, in order.
 * Headings below the level of the sections stay inside their part; headings in code do not count.
 */
export function splitBrief(body: string): BriefPart[] {
  const lines = body.split('\n')
  const all = [...findHeadings(lines), ...findLeadIns(lines)].sort((a, b) => a.line - b.line)
  const heads = withoutAppended([...all.slice(0, MAX_HEADINGS), ...all.slice(MAX_HEADINGS).filter(isAppended)])
  const level = sectionLevel(heads)
  const starts = heads.filter((head) => isAppended(head) || head.level <= level)
  const edges = [...starts.map(({ line }) => line), lines.length]
  const parts: BriefPart[] = starts.map((head, i) => ({
    heading: head.heading,
    name: TITLE.test(head.heading) ? null : sectionOfHeading(head.heading),
    added: isAdded(head),
    text: lines
      .slice(head.line, edges[i + 1])
      .join('\n')
      .trimEnd(),
  }))
  const before = lines.slice(0, edges[0]).join('\n').trim()
  return before === '' ? parts : [{ heading: '', name: null, added: false, text: before }, ...parts]
}

interface Heading {
  line: number
  level: number
  heading: string
}

/** Returns the headings of a text. Bold lines count as headings of the lowest level. */
export function findHeadings(lines: readonly string[]): Heading[] {
  return headingCandidates(lines).flatMap(([line, text]) => {
    const marked = HEADING.exec(text)
    if (marked) return [{ line, level: marked[1]!.length, heading: withoutMarks(marked[2]!) }]
    const bold = BOLD_LINE.exec(text)
    return bold ? [{ line, level: BOLD_LEVEL, heading: withoutMarks(bold[1]!) }] : []
  })
}

/** Returns bold lead-ins that name a section; other text is bold for many reasons. */
function findLeadIns(lines: readonly string[]): Heading[] {
  return headingCandidates(lines).flatMap(([line, text]) => {
    const words = LEAD_IN.exec(text)?.[1]?.trim() ?? ''
    return words === '' || sectionOfHeading(words) === null ? [] : [{ line, level: LEAD_IN_LEVEL, heading: words }]
  })
}

/** Returns lines outside of fences that may be headings, with their numbers. */
function headingCandidates(lines: readonly string[]): [number, string][] {
  const { kinds } = scanMarkdown(lines)
  return [...lines.entries()].filter(
    ([at, text]) => kinds[at] === 'plain' && text.length <= 300 && HEADING_CHARACTER.test(text),
  )
}

const isAdded = ({ heading }: Heading): boolean => heading.toLowerCase() === ADDITIONS_TITLE.toLowerCase()
/** True for a section that Baton appended, which is a part of its own at any level. */
const isAppended = (head: Heading): boolean =>
  isAdded(head) || (head.level === 2 && head.heading === LATE_FINDINGS_TITLE)

/** Removes headings inside appended sections, which say nothing about the brief itself. */
function withoutAppended(heads: readonly Heading[]): Heading[] {
  let appended: Heading | null = null
  return heads.filter((head) => {
    if (isAppended(head)) appended = head
    else if (appended !== null && head.level <= appended.level) appended = null
    return appended === null || appended === head
  })
}

/**
 * Returns the heading level of the sections.
 * The highest level with several requested sections wins, unless these are only a few.
 * Without such a level, the level with the most requested sections wins.
 * Between equal levels, real headings win over lines in bold.
 * The brief's title is never a section, even if its words name one.
 */
function sectionLevel(heads: readonly Heading[]): number {
  const named = new Map<number, Set<SectionName>>()
  for (const head of heads) {
    const name = isAppended(head) || TITLE.test(head.heading) ? null : sectionOfHeading(head.heading)
    if (name !== null) named.set(head.level, (named.get(head.level) ?? new Set()).add(name))
  }
  const found = [...named].map(([level, { size }]) => ({ level, size })).sort((a, b) => a.level - b.level)
  const marked = found.filter(({ level }) => level < BOLD_LEVEL)
  const most = Math.max(0, ...marked.map(({ size }) => size))
  const highest = marked.find(({ size }) => size > 1 && size * 3 >= most)
  if (highest) return highest.level
  const isBold = ({ level }: { level: number }): number => (level >= BOLD_LEVEL ? 1 : 0)
  const [best] = found.sort((a, b) => b.size - a.size || isBold(a) - isBold(b) || b.level - a.level)
  return best?.level ?? commonLevel(heads)
}

/** Returns the level for a brief with other sections than requested. */
function commonLevel(heads: readonly Heading[]): number {
  const levels = heads.filter((head) => !isAppended(head) && !TITLE.test(head.heading)).map(({ level }) => level)
  const counts = new Map<number, number>()
  for (const level of levels) counts.set(level, (counts.get(level) ?? 0) + 1)
  const several = [...counts].flatMap(([level, count]) => (count > 1 ? [level] : []))
  return several.length > 0 ? Math.min(...several) : Math.min(2, ...counts.keys())
}

const withoutMarks = (heading: string): string => heading.replace(/[*_`]/g, '').replace(/:\s*$/, '').trim()
