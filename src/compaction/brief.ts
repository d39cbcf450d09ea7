import type { Fact, FactKind } from '../contract/fact.js'
import { formatChoice } from '../facts/decision-text.js'
import { factKey } from '../facts/fact-key.js'
import { selectStatements } from '../facts/select-statements.js'
import { quoteAsData, sanitizeText } from '../lib/quote.js'

/** A written text and the facts that it covers. */
export interface BriefFromFacts {
  text: string
  /** Keys of the facts that the text covers. */
  keys: string[]
}

/** A section of a brief and its limits. */
interface Section {
  title: string
  /** Returns true for facts that belong to the section. */
  takes(fact: Fact): boolean
  /** Maximum number of facts; the newest or most needed are listed. */
  most: number
  /** Maximum length of one entry in characters. */
  longest: number
  /** Share of the brief that the section may fill before all others had their turn. */
  share: number
  /** True when entries are block quotations. */
  quoted?: boolean
}

const SECTIONS: readonly Section[] = [
  {
    title: "The user's last request, word for word",
    takes: isLastRequest,
    most: 1,
    longest: 2_500,
    share: 0.4,
    quoted: true,
  },
  {
    title: 'Required or forbidden by the user',
    takes: (f) => f.kind === 'constraint',
    most: 25,
    longest: 400,
    share: 0.35,
  },
  { title: 'Open todos', takes: (f) => f.kind === 'todo' && f.state === 'open', most: 20, longest: 200, share: 0.2 },
  {
    title: 'Open questions',
    takes: (f) => f.kind === 'question' && f.state === 'open',
    most: 8,
    longest: 300,
    share: 0.15,
  },
  {
    title: 'Tests that fail',
    takes: (f) => f.kind === 'test' && f.state === 'failed',
    most: 12,
    longest: 200,
    share: 0.15,
  },
  {
    title: 'Files changed',
    takes: (f) => f.kind === 'file' && f.state === 'changed',
    most: 40,
    longest: 200,
    share: 0.2,
  },
  { title: 'Decisions', takes: (f) => f.kind === 'decision', most: 20, longest: 300, share: 0.3 },
  {
    title: 'Unresolved errors',
    takes: (f) => f.kind === 'error' && f.detail.overcome !== true,
    most: 6,
    longest: 300,
    share: 0.1,
  },
  {
    title: 'Branch and commits',
    takes: (f) => f.kind === 'branch' || f.kind === 'commit',
    most: 10,
    longest: 150,
    share: 0.1,
  },
  { title: 'Commands that failed or still run', takes: isUnfinishedCommand, most: 8, longest: 200, share: 0.1 },
  {
    title: 'Earlier requests',
    takes: (f) => f.kind === 'request' && !isLastRequest(f),
    most: 6,
    longest: 300,
    share: 0.15,
    quoted: true,
  },
]

function isLastRequest({ kind, detail }: Fact): boolean {
  return kind === 'request' && detail.last === true
}

function isUnfinishedCommand({ kind, state }: Fact): boolean {
  return kind === 'command' && (state === 'failed' || state === 'running')
}

/** Characters for the heading, marks and the line that counts omitted facts. */
const HEADING_LENGTH = 60
/** Characters for the note at a cut. */
const CUT_NOTE_LENGTH = 90

/**
 * Writes a brief from ranked facts, without a model, in at most `longest` characters.
 * Most needed facts come first, so that cutting the text costs the least.
 * Every section gets a share before any is complete.
 * Facts that the quoted request already contains are omitted, and a command is named once.
 * Only the user's text is given as it is; text of tools and the agent is marked as a quotation.
 * Empty when there is no fact worth listing.
 */
export function writeBriefFromFacts(facts: readonly Fact[], longest: number): BriefFromFacts {
  const sections = SECTIONS.map((section) => ({
    section,
    all: facts.filter(section.takes),
    said: new Map<string, string>(),
    /** Keys of facts that another section covers. */
    elsewhere: new Set<string>(),
    length: 0,
  }))
  const room = facts.some(({ kind }) => kind === 'finding') ? longest * (1 - FINDINGS_SHARE) : longest
  let length = 0
  let quoted = ''
  const commands = new Set<string>()
  for (const sharing of [true, false]) {
    for (const one of sections) {
      for (const fact of one.all) {
        const key = factKey(fact)
        if (one.said.has(key) || one.elsewhere.has(key)) continue
        if (isQuoted(fact, quoted) || (isCommand(fact) && commands.has(fact.text))) {
          one.elsewhere.add(key)
          continue
        }
        if (one.said.size === one.section.most) continue
        const line = lineOf(fact, one.section, room)
        const cost = line.length + 1 + (one.said.size === 0 ? one.section.title.length + HEADING_LENGTH : 0)
        if (length + cost > room || (sharing && one.length + cost > room * one.section.share)) continue
        one.said.set(key, line)
        one.length += cost
        length += cost
        if (isLastRequest(fact)) quoted = joinLines(line.replace(/^> /gm, ''))
        if (isCommand(fact)) commands.add(fact.text)
      }
    }
  }
  const told = sections.filter(({ said }) => said.size > 0)
  const text = told
    .map(({ section, all, said, elsewhere }) => {
      const lines = linesOf(
        section,
        all.filter((fact) => !elsewhere.has(factKey(fact))),
        said,
      )
      return `## ${section.title}\n${lines.join('\n')}\n`
    })
    .join('\n')
  return {
    text: `${text}${findingsText(facts, text, longest - text.length)}`,
    keys: [...new Set(sections.flatMap(({ said, elsewhere }) => [...said.keys(), ...elsewhere]))],
  }
}

const FINDINGS_TITLE = 'Findings of the agent'
/** Share of the text that other sections leave to the findings. */
const FINDINGS_SHARE = 0.25
const MAX_FINDINGS_LENGTH = 2_000
const LONGEST_FINDING = 300

/** Lists the agent's most specific statements beside `said`. Empty when there are none. */
function findingsText(facts: readonly Fact[], said: string, room: number): string {
  const heading = `\n## ${FINDINGS_TITLE}\n`
  const lines = selectStatements(
    facts.filter(({ kind }) => kind === 'finding'),
    {
      said,
      room: Math.min(MAX_FINDINGS_LENGTH, room) - heading.length - 1,
      format: ({ text }) => `- ${quoteAsData(cutWithEllipsis(text, LONGEST_FINDING))}`,
    },
  )
  return lines.length === 0 ? '' : `${said === '' ? heading.trimStart() : heading}${lines.join('\n')}\n`
}

/** Kinds of facts that are sentences, so that a quoted request can contain them. */
const SENTENCE_KINDS = new Set<FactKind>(['request', 'constraint', 'question', 'decision'])

const joinLines = (text: string): string => text.replace(/\s+/g, ' ').trim()

/**
 * Returns true when the quoted request contains the fact verbatim.
 * Only sentences can be contained: a request cannot say what was done.
 */
function isQuoted(fact: Fact, quoted: string): boolean {
  if (quoted === '' || !SENTENCE_KINDS.has(fact.kind)) return false
  const words = joinLines(sanitizeText(fact.text))
  if (fact.kind === 'request') return !isLastRequest(fact) && words === quoted
  const at = quoted.indexOf(words)
  return at >= 0 && !/[\p{L}\p{N}]/u.test(`${quoted[at - 1] ?? ''}${quoted[at + words.length] ?? ''}`)
}

/** Returns true for a command, or for a test run that is known by its command. */
const isCommand = ({ kind, detail }: Fact): boolean =>
  kind === 'command' || (kind === 'test' && detail.command === undefined)

/** Returns the lines in the order of the facts, and how many facts were omitted. */
function linesOf({ quoted }: Section, all: readonly Fact[], said: ReadonlyMap<string, string>): string[] {
  const keys = [...new Set(all.map(factKey))]
  const lines = keys.flatMap((key) => said.get(key) ?? [])
  const more = keys.length - lines.length
  const apart = quoted ? lines.flatMap((line) => [line, '']) : lines
  return more === 0 ? (quoted ? apart.slice(0, -1) : apart) : [...apart, `- and ${more} more`]
}

function lineOf(fact: Fact, { title, longest, share, quoted }: Section, whole: number): string {
  if (quoted) {
    const room = whole * share - title.length - HEADING_LENGTH
    const most = Math.max(CUT_NOTE_LENGTH, Math.min(longest, Math.floor(room - CUT_NOTE_LENGTH)))
    const text = sanitizeText(fact.text).trim()
    const quote = (characters: number): string => wholeOrCut(text, characters).replace(/^/gm, '> ')
    // The marks of many short lines take room too.
    const excess = quote(most).length - room
    return quote(excess > 0 ? Math.max(CUT_NOTE_LENGTH, Math.floor(most - excess)) : most)
  }
  const choice = formatChoice(fact, longest)
  if (choice !== null) return `- ${choice}`
  const words = cutWithEllipsis(fact.text.slice(0, longest * 4), longest)
  return `- ${isOfUser(fact) ? joinLines(sanitizeText(words)) : quoteAsData(words)}${addition(fact)}`
}

function isOfUser({ kind, detail }: Fact): boolean {
  return (
    kind === 'constraint' ||
    kind === 'request' ||
    ((kind === 'question' || kind === 'decision') && detail.by === 'user')
  )
}

function addition(fact: Fact): string {
  const { detail } = fact
  if (fact.kind === 'constraint') return fact.state === 'forbidden' ? ' (forbidden)' : ''
  if (fact.kind === 'commit' && typeof detail.id === 'string') return ` (${detail.id.slice(0, 9)})`
  if (fact.kind === 'branch') return ' (branch)'
  if (fact.kind === 'test')
    return typeof detail.exitCode === 'number' && detail.exitCode !== 0 ? ` (exit ${detail.exitCode})` : ''
  if (fact.kind === 'command')
    return typeof detail.exitCode === 'number' ? ` (exit ${detail.exitCode})` : ` (${fact.state})`
  return ''
}

/** Cuts a quoted text at a word and says how much is missing. */
function wholeOrCut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const kept = text
    .slice(0, longest)
    .replace(/(?<=\s)\S{0,40}$/, '')
    .trimEnd()
  return `${kept}…\n(cut here; ${text.length - kept.length} more characters)`
}

/** Cuts a text to `longest` characters and marks the cut with an ellipsis. */
export function cutWithEllipsis(text: string, longest: number): string {
  const trimmed = text.trim()
  return trimmed.length <= longest ? trimmed : `${trimmed.slice(0, longest - 1).trimEnd()}…`
}
