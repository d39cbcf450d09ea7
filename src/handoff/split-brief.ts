import { ADDED_TITLE, type SectionName, sectionNamed } from './sections.js'

export interface Part {
  /** Without marks; '' for what stands before the first heading. */
  heading: string
  /** null: none of the sections that are asked for. */
  name: SectionName | null
  added: boolean
  /** As it stands there, its heading included. */
  text: string
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})/
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/
const BOLD_LINE = /^\s{0,3}(?:\*\*|__)([^*_].{0,80}?)(?:\*\*|__)\s*:?\s*$/

/** A brief's parts in their order. Headings below a section's own level stay inside it; those in code are no headings. */
export function splitBrief(body: string): Part[] {
  const lines = body.split('\n')
  const heads = headings(lines)
  const level = sectionLevel(heads)
  const starts = heads.filter((head) => head.level <= level)
  const edges = [...starts.map(({ line }) => line), lines.length]
  const parts: Part[] = starts.map(({ line, heading }, i) => ({
    heading,
    name: sectionNamed(heading),
    added: heading.toLowerCase() === ADDED_TITLE.toLowerCase(),
    text: lines
      .slice(line, edges[i + 1])
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
  const found: Head[] = []
  let fence: string | null = null
  for (const [line, text] of lines.entries()) {
    const mark = FENCE.exec(text)?.[1]
    if (mark !== undefined) fence = fence === null ? mark : closes(text, fence) ? null : fence
    if (mark !== undefined || fence !== null || text.length > 300) continue
    const marked = HEADING.exec(text)
    if (marked) found.push({ line, level: marked[1]!.length, heading: unmarked(marked[2]!) })
    else {
      const bold = BOLD_LINE.exec(text)
      if (bold) found.push({ line, level: 7, heading: unmarked(bold[1]!) })
    }
  }
  return found
}

/** A fence is closed by one of its own kind, at least as long, with nothing behind it. */
export function closes(line: string, fence: string): boolean {
  const mark = line.trim()
  return mark.length >= fence.length && mark === fence[0]!.repeat(mark.length)
}

/** The level most of the known sections stand at. */
function sectionLevel(heads: readonly Head[]): number {
  const counts = new Map<number, number>()
  for (const { level, heading } of heads) {
    if (sectionNamed(heading) !== null) counts.set(level, (counts.get(level) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? 2
}

const unmarked = (heading: string): string => heading.replace(/[*_`]/g, '').replace(/:\s*$/, '').trim()
