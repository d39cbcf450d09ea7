import { scanMarkdown } from './scan-markdown.js'
import { ADDED_TITLE, LATE_TITLE, type SectionName, sectionNamed } from './sections.js'

export interface Part {
  /** Without marks; '' for what stands before the first heading. */
  heading: string
  /** null: none of the sections that are asked for. */
  name: SectionName | null
  added: boolean
  /** As it stands there, its heading included. */
  text: string
}

/** Whatever follows so many headings stays below the last: nobody reads a brief of that kind, and an answer may be of any length. */
const MOST_HEADS = 2_000
const MARKED = /[#*_]/
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/
const BOLD_LINE = /^\s{0,3}(?:\*\*|__)([^*_].{0,80}?)(?:\*\*|__)\s*:?\s*$/
/** `**Next step:** run it`: a heading with its text behind it. */
const LEAD_IN = /^\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)([^*_:]{1,60})(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s*\S/
const TITLE = /^\W{0,4}(?:(?:baton|session|updated|final) )?handoff[ -]brief\b/i
const [BOLD_LEVEL, LEAD_IN_LEVEL] = [7, 8]

/** A brief's parts in their order. Headings below a section's own level stay inside it; those in code are no headings. */
export function splitBrief(body: string): Part[] {
  const lines = body.split('\n')
  const all = [...headings(lines), ...leadIns(lines)].sort((a, b) => a.line - b.line)
  const heads = withoutAppended([...all.slice(0, MOST_HEADS), ...all.slice(MOST_HEADS).filter(isAppended)])
  const level = sectionLevel(heads)
  const starts = heads.filter((head) => isAppended(head) || head.level <= level)
  const edges = [...starts.map(({ line }) => line), lines.length]
  const parts: Part[] = starts.map((head, i) => ({
    heading: head.heading,
    name: TITLE.test(head.heading) ? null : sectionNamed(head.heading),
    added: isAdded(head),
    text: lines
      .slice(head.line, edges[i + 1])
      .join('\n')
      .trimEnd(),
  }))
  const before = lines.slice(0, edges[0]).join('\n').trim()
  return before === '' ? parts : [{ heading: '', name: null, added: false, text: before }, ...parts]
}

export interface Head {
  line: number
  level: number
  heading: string
}

/** Bold lines count as headings of the lowest level. */
export function headings(lines: readonly string[]): Head[] {
  return unfenced(lines).flatMap(([line, text]) => {
    const marked = HEADING.exec(text)
    if (marked) return [{ line, level: marked[1]!.length, heading: unmarked(marked[2]!) }]
    const bold = BOLD_LINE.exec(text)
    return bold ? [{ line, level: BOLD_LEVEL, heading: unmarked(bold[1]!) }] : []
  })
}

/** Only those that name a section: other words are bold for many reasons. */
function leadIns(lines: readonly string[]): Head[] {
  return unfenced(lines).flatMap(([line, text]) => {
    const words = LEAD_IN.exec(text)?.[1]?.trim() ?? ''
    return words === '' || sectionNamed(words) === null ? [] : [{ line, level: LEAD_IN_LEVEL, heading: words }]
  })
}

/** Lines that may be headings, with their numbers. */
function unfenced(lines: readonly string[]): [number, string][] {
  const { kinds } = scanMarkdown(lines)
  return [...lines.entries()].filter(([at, text]) => kinds[at] === 'plain' && text.length <= 300 && MARKED.test(text))
}

const isAdded = ({ heading }: Head): boolean => heading.toLowerCase() === ADDED_TITLE.toLowerCase()
/** What Baton puts behind a brief is a part of its own, at whatever level the brief has its sections. */
const isAppended = (head: Head): boolean => isAdded(head) || (head.level === 2 && head.heading === LATE_TITLE)

/** Headings inside what was appended say nothing about the brief, and stay there. */
function withoutAppended(heads: readonly Head[]): Head[] {
  let appended: Head | null = null
  return heads.filter((head) => {
    if (isAppended(head)) appended = head
    else if (appended !== null && head.level <= appended.level) appended = null
    return appended === null || appended === head
  })
}

/**
 * The level the sections stand at: the highest that has several of those that are asked for, and not only a few of them; else the one
 * that has most, real headings before bold words. The brief's own title is no section, whatever words stand in it.
 */
function sectionLevel(heads: readonly Head[]): number {
  const named = new Map<number, Set<SectionName>>()
  for (const head of heads) {
    const name = isAppended(head) || TITLE.test(head.heading) ? null : sectionNamed(head.heading)
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

/** Of a brief with other sections than were asked for. */
function commonLevel(heads: readonly Head[]): number {
  const levels = heads.filter((head) => !isAppended(head) && !TITLE.test(head.heading)).map(({ level }) => level)
  const counts = new Map<number, number>()
  for (const level of levels) counts.set(level, (counts.get(level) ?? 0) + 1)
  const several = [...counts].flatMap(([level, count]) => (count > 1 ? [level] : []))
  return several.length > 0 ? Math.min(...several) : Math.min(2, ...counts.keys())
}

const unmarked = (heading: string): string => heading.replace(/[*_`]/g, '').replace(/:\s*$/, '').trim()
