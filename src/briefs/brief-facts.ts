import type { Fact, FactKind } from '../contract/fact.js'
import { isNegative } from '../facts/words.js'
import { withoutClaimMarks } from './claims.js'
import { KIND_TITLES } from './format-lines.js'
import { LATE_FINDINGS_TITLE, type SectionName } from './sections.js'
import { splitBrief } from './split-brief.js'

/** Sections whose items bind the session that continues the work. */
const BINDING_SECTIONS: Partial<Record<SectionName, FactKind>> = {
  constraints: 'constraint',
  decisions: 'decision',
  next: 'todo',
  questions: 'question',
}
/** Kinds of facts that Baton appends to a brief and that bind its successor. */
const APPENDED_KINDS: readonly FactKind[] = [...Object.values(BINDING_SECTIONS), 'finding']
const KIND_BY_TITLE = new Map(APPENDED_KINDS.map((kind): [string, FactKind] => [KIND_TITLES[kind], kind]))

const MOST_PER_KIND = 40
const LONGEST = 600
const SHORTEST = 4

/**
 * Returns the facts of a brief that bind the session it is given to:
 * constraints, decisions, next steps and open questions.
 * Every item or paragraph is one fact, in the brief's wording, marked by `detail.handed`.
 * Facts of a brief have line 0, because they precede everything the session itself says.
 * A todo that Baton added from the agent's list is also marked by `detail.listed`.
 */
export function factsOfBrief(body: string): Fact[] {
  const found = splitBrief(withoutClaimMarks(body)).flatMap(({ name, added, heading, text }): Fact[] => {
    const lines = text.split('\n')
    if (added || heading === LATE_FINDINGS_TITLE) return appendedFacts(lines)
    const kind = name === null ? undefined : BINDING_SECTIONS[name]
    return kind === undefined ? [] : itemsOf(withoutHeading(lines)).flatMap((item) => factOf(kind, item))
  })
  const counts = new Map<FactKind, number>()
  return found.filter(({ kind }) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return counts.get(kind)! <= MOST_PER_KIND
  })
}

/** Returns facts that Baton appended, which are grouped under one heading per kind. */
function appendedFacts(lines: readonly string[]): Fact[] {
  const starts = lines.flatMap((line, at) => (line.startsWith('### ') ? [at] : []))
  return starts.flatMap((start, i) => {
    const kind = KIND_BY_TITLE.get(lines[start]!.slice(4).trim())
    if (kind === undefined) return []
    // Notes of Baton follow the last group as paragraphs. They are no facts.
    const items = lines.slice(start + 1, starts[i + 1]).filter((line) => ITEM_START.test(line))
    return itemsOf(items).flatMap((item) => factOf(kind, item).map(asListed))
  })
}

/** Marks a todo as one of the agent's own list, which a brief's next step does not replace. */
function asListed(fact: Fact): Fact {
  return fact.kind === 'todo' ? { ...fact, detail: { ...fact.detail, listed: true } } : fact
}

/** Removes the heading line. `**Next step:** run it` has its first item on that line. */
function withoutHeading(lines: readonly string[]): string[] {
  const [first = '', ...rest] = lines
  const itemOnHeading = /^\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_:]{1,60}(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(\S.*)$/.exec(
    first,
  )?.[1]
  return itemOnHeading === undefined ? rest : [itemOnHeading, ...rest]
}

const ITEM_START = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/
const TICKED_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+\[[xX]\]\s/

/**
 * Returns list items and paragraphs, each joined to one line. Omits ticked items, which are done.
 */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = []
  let open: 'item' | 'done' | null = null
  for (const line of lines) {
    const text = line.replace(/^\s*(?:>\s?)+/, '').trimEnd()
    if (text.trim() === '' || /^\s*(?:#{1,6}\s|<!--|```|~~~)/.test(text)) open = null
    else if (TICKED_ITEM.test(text)) open = 'done'
    else if (ITEM_START.test(text) || open === null) {
      items.push(text.replace(ITEM_START, '').trim())
      open = 'item'
    } else if (open === 'item') items[items.length - 1] += ` ${text.trim()}`
  }
  return items
}

/** Lines that say that there is nothing, or that are part of Baton's own template. */
const EMPTY_PHRASE_PATTERNS = [
  'none\\b(?: known from the transcript| so far| yet)?',
  'nothing(?: was asked yet| open)?',
  'n/a',
  'no(?: open questions| decisions| constraints)',
  'no todo list was kept\\..*',
  'and \\d+ more(?:, left out here)?',
  '\\(?cut here\\)?.*',
  '-+',
]
const EMPTY_PHRASES = new RegExp(`^(?:${EMPTY_PHRASE_PATTERNS.join('|')})[.!]?$`, 'i')
/** Suffixes of Baton's own brief. Stored briefs of earlier versions have the last two. */
const SUFFIXES = [
  'forbidden',
  'asked by the user',
  'in progress',
  'from the previous brief; may be done',
  'was being worked on',
  'from the brief before; it may be done',
]
const SUFFIX = new RegExp(` \\((?:${SUFFIXES.join('|')})\\)$`)

const STATELESS = new Set<FactKind>(['decision', 'finding'])

function factOf(kind: FactKind, item: string): Fact[] {
  const text = item
    .replace(/^the agent said: /, '')
    .replace(SUFFIX, '')
    .trim()
    .slice(0, LONGEST)
  if (text.length < SHORTEST || EMPTY_PHRASES.test(text)) return []
  const by = item.endsWith(' (asked by the user)') ? 'user' : 'agent'
  const state = STATELESS.has(kind)
    ? null
    : kind === 'constraint'
      ? isNegative(text)
        ? 'forbidden'
        : 'required'
      : 'open'
  return [{ kind, text, line: 0, at: null, state, detail: { handed: true, ...(kind === 'constraint' ? {} : { by }) } }]
}
