import type { Fact } from '../contract/fact.js'
import { formatChoice } from '../facts/decision-text.js'
import { selectStatements } from '../facts/select-statements.js'
import { beginningAndEnd, listLine, toOneLine, toQuotation } from './format-lines.js'
import { findVerifications, lastRequestOf, usersFacts } from './needed-facts.js'
import { BRIEF_TITLE, SECTIONS, SECTIONS_BY_IMPORTANCE, type SectionName } from './sections.js'

/** State of the repository as git reports it. */
export interface Repository {
  branch: string | null
  commit: string | null
  subject: string | null
  /** Paths of uncommitted files. */
  dirty: string[]
  /** Number of unpushed commits. Null when unknown. */
  ahead: number | null
  /** Recent commits, newest first. */
  recent: { id: string; subject: string }[]
}

interface BriefContext {
  /** Sentence that says why code wrote the brief. Null when there is nothing to say. */
  reason?: string | null
  /** The agent's last answer. */
  lastAnswer?: string | null
  seatName?: string | null
  sessionId?: string | null
  /** Facts that must survive according to the configuration. */
  mustSurvive?: readonly string[]
  longest?: number
}

const IN_PROGRESS_SUFFIX = ' (in progress)'
/** Suffix of a next step from the previous brief: code cannot tell whether it was done since. */
const INHERITED_SUFFIX = ' (from the previous brief; may be done)'
const LONGEST = 9_000
/** Most characters of the note that says how much of a quotation is omitted. */
const CUT_NOTE = 80
/** Share of the brief that other sections leave to the findings. */
const FINDINGS_SHARE = 0.4
const LONGEST_FINDING = 320
const FINDINGS_HEADING =
  '\n## Findings\n\nWhat the agent reported, oldest first, as far as it is specific. Lines of the user are marked.\n\n'
const SHARES: Record<SectionName, number> = {
  request: 0.3,
  next: 0.15,
  constraints: 0.15,
  state: 0.25,
  goal: 0.15,
  questions: 0.06,
  failed: 0.1,
  files: 0.2,
  decisions: 0.25,
  verify: 0.08,
  done: 0.08,
}

/**
 * Writes a brief without a model, from the transcript's facts and the repository.
 * Has at most `longest` characters.
 */
export function writeBriefByCode(
  all: readonly Fact[],
  repository: Repository | null,
  about: BriefContext = {},
): string {
  const longest = about.longest ?? LONGEST
  const facts = newestFirst(usersFacts(all))
  const reason = about.reason ? ` ${toOneLine(about.reason, 200)}` : ''
  const origin = 'Baton wrote this brief from transcript and repository by code, without a model.'
  const limits = 'Quotations and lists are exact. Nobody has weighed them, and unspoken reasoning is missing.'
  const intro = `# ${BRIEF_TITLE}\n\n${origin} ${limits}${reason}\n\n`
  const room = longest - intro.length
  const hasFindings = facts.some(({ kind }) => kind === 'finding')
  const sectionsRoom = hasFindings ? Math.floor(room * (1 - FINDINGS_SHARE)) : room
  const items = itemsFor(facts, repository, about, sectionsRoom)
  const fillings = SECTIONS.map(
    ({ name, title }): SectionContent => ({
      title,
      items: items[name],
      share: SHARES[name],
      none: 'None known from the transcript.',
    }),
  )
  const byNeed = SECTIONS_BY_IMPORTANCE.map((name) => SECTIONS.findIndex((section) => section.name === name))
  const text = `${intro}${fillSections(fillings, byNeed, sectionsRoom)}`
  const findings = selectStatements(facts, {
    said: text,
    room: longest - text.length - FINDINGS_HEADING.length,
    format: ({ by, text }) => listLine(by === 'user' ? `the user: ${text}` : text, LONGEST_FINDING),
  })
  return findings.length === 0 ? text : `${text}${FINDINGS_HEADING}${findings.join('\n')}\n`
}

function itemsFor(
  facts: Fact[],
  repository: Repository | null,
  about: BriefContext,
  longest: number,
): Record<SectionName, string[]> {
  const of = (kind: Fact['kind'], is: (fact: Fact) => boolean = () => true): Fact[] =>
    facts.filter((fact) => fact.kind === kind && is(fact))
  const toListLines = (found: readonly Fact[], most: number): string[] => found.map(({ text }) => listLine(text, most))
  const last = lastRequestOf(facts)
  const earlier = of('request', (fact) => fact !== last).reverse()
  const todos = of('todo', ({ state }) => state === 'open').sort(
    (a, b) =>
      Number(a.detail.handed === true) - Number(b.detail.handed === true) ||
      Number(b.detail.doing === true) - Number(a.detail.doing === true) ||
      a.line - b.line,
  )
  const failing = of('test', (fact) => fact.state === 'failed' && fact.detail.command !== undefined)
  const changed = of('file', ({ state }) => state === 'changed')
  const checks = findVerifications(facts)
  return {
    goal: [
      ...(earlier.length === 0
        ? ['The last request, below, is the only one.']
        : ['Earlier requests of the user, the first one first, then the newest:']),
      ...[...earlier.slice(0, 1), ...earlier.slice(1).reverse()].map(({ text }, i) =>
        toQuotation(text, i === 0 ? longest * 0.12 : 300),
      ),
    ],
    state: [
      ...repositoryLines(repository, of('branch')[0]?.text ?? null),
      ...failing.map((fact) => failingLine(fact, facts)),
      ...of('command', ({ state }) => state === 'running').map(
        ({ text }) => `- still runs in the background: \`${toOneLine(text, 200)}\``,
      ),
      ...(about.lastAnswer?.trim()
        ? [`The last answer of the agent:\n\n${toQuotation(beginningAndEnd(about.lastAnswer, longest * 0.2), longest)}`]
        : []),
    ],
    done: [
      ...toListLines(
        of('todo', ({ state }) => state === 'done'),
        150,
      ),
      ...commitLines(of('commit'), repository),
    ],
    next: [
      ...todos.map(
        ({ text, detail }) =>
          listLine(text, 250) +
          (detail.doing === true ? IN_PROGRESS_SUFFIX : detail.handed === true ? INHERITED_SUFFIX : ''),
      ),
      ...announcedSteps(about.lastAnswer ?? ''),
      ...(todos.every(({ detail }) => detail.handed === true) ? [nextWithoutTodos(failing, last)] : []),
    ],
    decisions: of('decision', ({ detail }) => detail.superseded === undefined).map((fact) =>
      listLine(formatChoice(fact, 350) ?? fact.text, 400),
    ),
    failed: of('error', ({ text, detail }) => detail.overcome !== true && /\p{L}{3}/u.test(text))
      .slice(0, 10)
      .map(({ text, detail }) => `- \`${toOneLine(String(detail.of ?? ''), 120)}\`: ${toOneLine(text, 300)}`),
    files: [
      ...fileLines(changed, repository),
      ...of('file', ({ state }) => state === 'read')
        .slice(0, 8)
        .map(({ text }) => `- read: ${toOneLine(text, 200)}`),
    ],
    verify: checks.map(
      ({ text, state }) =>
        `- \`${toOneLine(text, 300)}\` (${state === 'failed' ? 'failed' : 'passed'} when it was last run)`,
    ),
    questions: of('question', ({ state }) => state === 'open').map(
      ({ text, detail }) => `${listLine(text, 300)}${detail.by === 'user' ? ' (asked by the user)' : ''}`,
    ),
    constraints: [
      ...(about.mustSurvive ?? []).map((text) => listLine(text, 300)),
      ...of('constraint').map(
        ({ text, state }) => `${listLine(text, 400)}${state === 'forbidden' ? ' (forbidden)' : ''}`,
      ),
    ],
    request: last === null ? [] : [quotationWithin(last.text, Math.floor(longest * SHARES.request) - 2)],
  }
}

/** Quotes a text. The quotation with its marks has at most `longest` characters. */
function quotationWithin(text: string, longest: number): string {
  const whole = toQuotation(text, longest)
  if (whole.length <= longest) return whole
  const cut = toQuotation(text, longest - CUT_NOTE)
  return cut.length <= longest ? cut : toQuotation(text, longest - CUT_NOTE - (cut.length - longest))
}

function repositoryLines(repository: Repository | null, branch: string | null): string[] {
  if (repository === null) return branch === null ? [] : [`- branch ${toOneLine(branch, 200)}`]
  const { commit, subject, dirty, ahead } = repository
  const on = repository.branch ?? branch
  return [
    ...(on === null ? [] : [`- branch ${toOneLine(on, 200)}`]),
    ...(commit === null
      ? ['- the repository has no commit yet']
      : [`- commit ${commit.slice(0, 9)}${subject === null ? '' : ` ${toOneLine(subject, 120)}`}`]),
    ...(dirty.length === 0
      ? commit === null
        ? []
        : ['- everything is committed']
      : [`- ${dirty.length} ${dirty.length === 1 ? 'file is' : 'files are'} not committed`]),
    ...(ahead === null || ahead === 0 ? [] : [`- ${ahead} ${ahead === 1 ? 'commit was' : 'commits were'} not pushed`]),
  ]
}

function commitLines(commits: readonly Fact[], repository: Repository | null): string[] {
  const made = commits.map(({ text, detail }) => ({
    id: typeof detail.id === 'string' ? toOneLine(detail.id.slice(0, 9), 9) : null,
    subject: text,
  }))
  const known = new Set(made.map(({ subject }) => subject))
  const recent = (repository?.recent ?? []).slice(0, 5).filter(({ subject }) => !known.has(subject))
  return [
    ...made.map(({ id, subject }) => `- commit ${id === null ? '' : `${id} `}${toOneLine(subject, 150)}`),
    ...recent.map(({ id, subject }) => `- in the history: ${id.slice(0, 9)} ${toOneLine(subject, 150)}`),
  ]
}

const MOST_CHANGED_NAMES = 6
const LONGEST_CHANGED_NAMES = 160

/** Lists files changed in the session with their git state, then other changes that git reports. */
function fileLines(changed: readonly Fact[], repository: Repository | null): string[] {
  const dirty = repository?.dirty ?? []
  const isDirty = (path: string): boolean =>
    dirty.some((one) => `/${path}`.endsWith(`/${one}`) || `/${one}`.endsWith(`/${path}`))
  const told = changed.map(({ text, detail }) => {
    const names =
      typeof detail.names === 'string' ? detail.names.split('\n').filter(Boolean).slice(-MOST_CHANGED_NAMES) : []
    const more = [
      names.length === 0 ? '' : `in ${toOneLine(names.join(', '), LONGEST_CHANGED_NAMES)}`,
      detail.removed === true ? 'removed' : '',
      isDirty(text) ? 'not committed' : '',
      detail.unconfirmed === true ? 'not certain' : '',
    ]
    const said = more.filter((one) => one !== '').join(', ')
    return `- changed: ${toOneLine(text, 250)}${said === '' ? '' : ` (${said})`}`
  })
  const others = dirty.filter(
    (path) => !changed.some(({ text }) => `/${text}`.endsWith(`/${path}`) || `/${path}`.endsWith(`/${text}`)),
  )
  return [...told, ...others.map((path) => `- not committed, author unknown: ${toOneLine(path, 250)}`)]
}

/** Describes a failing test with its error, so that nobody has to run it to see what is wrong. */
function failingLine({ text, detail }: Fact, facts: readonly Fact[]): string {
  const error = facts.find(
    (one) => one.kind === 'error' && one.detail.of === detail.command && one.detail.overcome !== true,
  )
  const said = error === undefined ? '' : `: ${toOneLine(error.text, 300)}`
  return `- fails: ${toOneLine(text, 200)}${said}`
}

const ANNOUNCES = new RegExp(
  String.raw`\b(?:next (?:step|is|i|up)|next,|i(?:'|’)?ll now|i will now|still (?:to do|missing|open|needs?)|` +
    String.raw`remaining|left to do|not (?:yet )?done|to be done)\b`,
  'i',
)
const MOST_ANNOUNCED = 3

/** Returns sentences in which the agent announced its next steps. */
function announcedSteps(lastAnswer: string): string[] {
  const sentences = lastAnswer.split(/(?<=[.!?:])\s+|\n+/).map((one) => one.replace(/^[-*#>\s]+/, '').trim())
  const telling = sentences.filter((one) => one.length > 10 && one.length < 400 && ANNOUNCES.test(one))
  return telling.slice(-MOST_ANNOUNCED).map((one) => `- the agent said: ${toOneLine(one, 300)}`)
}

function nextWithoutTodos(failing: readonly Fact[], last: Fact | null): string {
  if (failing.length > 0)
    return '- No todo list was kept. Make the failing tests pass, then continue with the last request.'
  if (last !== null && /[?？]\s*$/.test(last.text.trim()))
    return '- No todo list was kept. The last request, below, is a question. Answer it if it is still unanswered.'
  return last === null
    ? '- Nothing was asked yet.'
    : '- No todo list was kept. Compare the last request, below, with the last answer and the files. Do what is left.'
}

const newestFirst = (facts: readonly Fact[]): Fact[] => [...facts].sort((a, b) => b.line - a.line)

interface SectionContent {
  title: string
  /** Paragraphs or list lines, most needed first. */
  items: readonly string[]
  /** Fraction of the whole that the section may use before all others had their turn. */
  share: number
  /** Text when there are no items. */
  none: string
}

/** Characters around a section, and for the line that counts omitted items. */
const SECTION_OVERHEAD = 40

/**
 * Fills sections within `longest` characters, giving each some items before any gets all.
 * Items are never cut; omitted ones are counted.
 */
function fillSections(fillings: readonly SectionContent[], byNeed: readonly number[], longest: number): string {
  const sections = fillings.map((filling) => ({ filling, chosen: new Set<string>(), length: 0 }))
  let room = longest - fillings.reduce((sum, { title, none }) => sum + title.length + none.length + SECTION_OVERHEAD, 0)
  for (const sharing of [true, false]) {
    for (const index of byNeed) {
      const one = sections[index]!
      for (const item of one.filling.items) {
        const cost = item.length + 2
        if (one.chosen.has(item) || cost > room || (sharing && one.length + cost > longest * one.filling.share))
          continue
        one.chosen.add(item)
        one.length += cost
        room -= cost
      }
    }
  }
  return sections.map(({ filling, chosen }) => `## ${filling.title}\n\n${sectionText(filling, chosen)}\n`).join('\n')
}

function sectionText({ items, none }: SectionContent, chosen: ReadonlySet<string>): string {
  const all = [...new Set(items)]
  if (all.length === 0) return none
  const left = all.length - chosen.size
  const kept = all.filter((item) => chosen.has(item))
  const lines = [...kept, ...(left > 0 ? [`- and ${left} more, left out here`] : [])]
  return lines
    .map((line, i) => (i > 0 && !(isListLine(line) && isListLine(lines[i - 1]!)) ? `\n${line}` : line))
    .join('\n')
}

const isListLine = (line: string): boolean => line.startsWith('- ')
