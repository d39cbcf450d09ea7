import { ADDED_TITLE, sectionNamed } from './sections.js'
import { closes, headings } from './split-brief.js'

/** A brief without a single section has at least this much to say; less is talk about one. */
const SUBSTANCE = 200
const MOST_TITLES = 20
/** What says nothing in so many characters says nothing. */
const LOOKED_AT = 100_000
const FENCE = /^\s{0,3}(`{3,}|~{3,})(.*)$/
/** `# Handoff brief`, at any level, bold or not, with a name behind it. */
const TITLE_LINE =
  /^\s{0,3}(#{1,6})\s*(?:\*\*|__)?\s*(?:[^\p{L}\p{N}\s]{1,4}\s*)?(?:(?:baton|session|updated|final) )?handoff[ -]brief\b([^\n]*)$/iu
const BOLD_TITLE = /^\s{0,3}(?:\*\*|__)\s*handoff[ -]brief\b([^\n*_]{0,80})(?:\*\*|__)\s*:?\s*$/iu
const UNDERLINED = /^\s{0,3}handoff[ -]brief\s*$/iu
/** What may stand behind the words: nothing, or a mark and a name. "Handoff brief format" is about briefs. */
const NAME_BEHIND = /^\s*(?:(?:\*\*|__)?\s*)?(?:$|[:–—(#|/,.-]|(?:\*\*|__)|(?:for|of|no|v)\b|v?\d)/iu

/**
 * The brief in an agent's answer: from its title to the end, or to the end of the code fence it stands in. null: there is none, or
 * it is empty. Of several the longest is meant; a template that was quoted is shorter than the brief that follows it.
 */
export function findBrief(answer: string): string | null {
  const lines = answer.replace(/\r\n?/g, '\n').split('\n')
  let best: string | null = null
  let fence: string | null = null
  let looked = 0
  for (const [at, line] of lines.entries()) {
    const mark = FENCE.exec(line)
    if (mark) {
      if (fence === null) fence = mark[1]!
      else if (closes(line, fence)) fence = null
      continue
    }
    if (!isTitle(line, lines[at + 1])) continue
    if (++looked > MOST_TITLES) break
    const brief = lines
      .slice(at, fence === null ? lines.length : endOfFence(lines, at, fence))
      .join('\n')
      .trimEnd()
    if ((best === null || brief.length > best.length) && saysSomething(brief)) best = brief
  }
  return best
}

function isTitle(line: string, next: string | undefined): boolean {
  if (line.length > 300) return false
  const behind = (TITLE_LINE.exec(line)?.[2] ?? BOLD_TITLE.exec(line)?.[1])?.trimEnd()
  if (behind !== undefined) return NAME_BEHIND.test(behind)
  return UNDERLINED.test(line) && /^\s{0,3}=+\s*$/.test(next ?? '')
}

/**
 * Agents put code in fences into a brief that is itself in one, of the same length. A fence with a language opens, a bare one closes
 * the innermost; and where sections follow what looked like the end, it was not.
 */
function endOfFence(lines: readonly string[], from: number, fence: string): number {
  const marks = [...lines.entries()].slice(from).filter(([, line]) => FENCE.exec(line)?.[1]?.startsWith(fence))
  let depth = 1
  for (const [at, line] of marks) {
    depth += closes(line, fence) ? -1 : 1
    if (depth === 0) {
      const last = marks.findLast(([, one]) => closes(one, fence))![0]
      return last > at && lines.slice(at + 1, last).some(isSection) ? last : at
    }
  }
  return marks.findLast(([, line]) => closes(line, fence))?.[0] ?? lines.length
}

const isSection = (line: string): boolean => /^\s{0,3}#{2,6}\s/.test(line) && line.length < 300 && sectionNamed(line) !== null

function saysSomething(brief: string): boolean {
  const lines = brief.slice(0, LOOKED_AT).split('\n').slice(1)
  const heads = headings(lines)
  const marked = new Set(heads.map(({ line }) => line))
  const said = lines
    .filter((line, i) => !marked.has(i) && !FENCE.test(line))
    .join('')
    .replace(/[\s\p{P}\p{S}]/gu, '')
  return said.length >= SUBSTANCE || (said.length > 0 && heads.some(({ heading }) => heading !== ADDED_TITLE))
}
