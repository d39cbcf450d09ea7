import type { Fact } from '../contract/fact.js'
import { checksIn } from '../facts/check-command.js'
import { factKey } from '../facts/fact-key.js'
import { factWeight } from '../facts/rank.js'

interface NeededFact {
  fact: Fact
  /** Importance for further work; above 0. */
  weight: number
}

/** Number of newest facts per kind that a brief must cover; older ones can be looked up. */
const MAX_PER_KIND = {
  file: 60,
  commit: 8,
  test: 12,
  command: 3,
  todo: 40,
  question: 12,
  constraint: 60,
  decision: 12,
  branch: 1,
  request: 1,
  finding: 8,
}
const MIN_WEIGHT = 20

/**
 * Matches a statement of the agent that something must not be done a second time.
 * Other findings can be looked up again; without this one a successor repeats the step.
 */
const FORBIDS_REPETITION = new RegExp(
  String.raw`(?:\b(?:must|should)(?: not|n['’]t)|(?:^|[.;:,(–-]\s*)(?:do not|don['’]t|never)) ` +
    String.raw`(?:\S+ ){0,8}?(?:again|twice|repeat(?:ed)?|re-?run)\b`,
  'i',
)

/** Matches prompts that are not the user's: Baton's own and commands of the client. */
const NOT_A_REQUEST = new RegExp(
  String.raw`^\s*(?:\[baton\]|\/(?:handoff|compact|clear|context|cost|usage|status|model|resume|exit|quit|help|` +
    String.raw`config|hooks|login|logout)\b)`,
  'i',
)
/**
 * Matches the prompt of a later session of a job, which hooks may put text before.
 * Transcripts of earlier versions have the second wording.
 */
const LATER_SESSION = /^\[baton\] You (?:continue|go on with) a job\b/m
const SCRATCH = /^(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev)\//

/** Returns the facts without those from Baton's own prompts. */
export function usersFacts(facts: readonly Fact[]): Fact[] {
  const foreign = new Set(facts.filter(isNotUserRequest).map(({ line }) => line))
  const isReported = ({ kind, detail }: Fact): boolean =>
    kind === 'constraint' || ((kind === 'question' || kind === 'decision') && detail.by === 'user')
  return facts.filter((fact) => !isNotUserRequest(fact) && !(foreign.has(fact.line) && isReported(fact)))
}

const isNotUserRequest = ({ kind, text }: Fact): boolean =>
  kind === 'request' && (NOT_A_REQUEST.test(text) || LATER_SESSION.test(text))

/**
 * Returns the request that the work is about: the one marked as last.
 * No request is marked when the last prompt was Baton's own.
 * Without a marked request, returns the newest that is no aside about a declined call.
 */
export function lastRequestOf(facts: readonly Fact[]): Fact | null {
  const requests = facts.filter(({ kind }) => kind === 'request')
  const marked = requests.filter(({ detail }) => detail.last === true)
  const direct = requests.filter(({ detail }) => detail.aside !== true)
  const [candidates = []] = [marked, direct, requests].filter((found) => found.length > 0)
  return candidates.reduce<Fact | null>((last, fact) => (fact.line >= (last?.line ?? 0) ? fact : last), null)
}

/** Returns the facts that a brief must cover, most important first. */
export function neededFacts(all: readonly Fact[]): NeededFact[] {
  const facts = usersFacts(all)
  const last = lastRequestOf(facts)
  const newest = (kind: Fact['kind'], is: (fact: Fact) => boolean, most: number): Fact[] =>
    newestOf(
      facts.filter((fact) => fact.kind === kind && is(fact)),
      most,
    )
  const chosen = [
    ...(last === null ? [] : [last]),
    ...newest('constraint', () => true, MAX_PER_KIND.constraint),
    ...newest('todo', ({ state }) => state === 'open', MAX_PER_KIND.todo),
    ...newest('question', ({ state }) => state === 'open', MAX_PER_KIND.question),
    ...newest('test', (fact) => fact.state === 'failed' && !isRun(fact), MAX_PER_KIND.test),
    ...newest('file', (fact) => fact.state === 'changed' && !SCRATCH.test(fact.text), MAX_PER_KIND.file),
    ...newest('decision', ({ detail }) => detail.superseded === undefined, MAX_PER_KIND.decision),
    ...newest('finding', ({ text }) => FORBIDS_REPETITION.test(text), MAX_PER_KIND.finding),
    ...newest('branch', () => true, MAX_PER_KIND.branch),
    ...newest('commit', () => true, MAX_PER_KIND.commit),
    ...findVerifications(facts),
  ]
  return distinct(chosen)
    .map((fact) => ({ fact, weight: Math.max(MIN_WEIGHT, factWeight(fact, last?.line ?? 0)) }))
    .sort((a, b) => b.weight - a.weight || b.fact.line - a.fact.line)
}

/**
 * Returns the newest failing and passing checks, as commands.
 * A failed check is dropped once the same program passed, unless a test it named still fails.
 */
export function findVerifications(facts: readonly Fact[]): Fact[] {
  const tested = new Set(facts.flatMap((fact) => (fact.kind === 'test' && isRun(fact) ? [fact.text] : [])))
  const runs = facts.flatMap((fact): Fact[] => {
    if (fact.detail.overcome === true) return []
    if (fact.kind === 'test' && isRun(fact)) {
      if (fact.state === 'unknown') return []
      return [{ ...fact, kind: 'command', state: fact.state === 'failed' ? 'failed' : 'ok' }]
    }
    const ended = fact.kind === 'command' && (fact.state === 'ok' || fact.state === 'failed')
    return ended && checksIn(fact.text).length > 0 && !tested.has(fact.text) ? [fact] : []
  })
  const passed = new Map<string, number>()
  for (const { text, state, line } of runs) {
    if (state === 'ok') passed.set(programOf(text), Math.max(line, passed.get(programOf(text)) ?? 0))
  }
  const stillFailing = new Set(
    facts.flatMap(({ kind, state, detail }) => (kind === 'test' && state === 'failed' ? [detail.command] : [])),
  )
  const failing = runs.filter(
    ({ text, state, line }) =>
      state === 'failed' && (stillFailing.has(text) || line > (passed.get(programOf(text)) ?? 0)),
  )
  const passing = runs.filter(({ text, state, line }) => state === 'ok' && passed.get(programOf(text)) === line)
  return [...newestOf(failing, MAX_PER_KIND.command), ...newestOf(passing, MAX_PER_KIND.command)]
}

const isRun = ({ detail }: Fact): boolean => detail.command === undefined

/**
 * Returns the program of a command.
 * For example, `npx vitest run a.test.ts` and `npx vitest run b.test.ts` have the same program.
 */
function programOf(command: string): string {
  const words = command.replace(/^(cd\s+\S+\s*(&&|;)\s*)+/, '').split(/\s+/)
  return words
    .filter((word) => !/^-|=/.test(word))
    .slice(0, 2)
    .join(' ')
}

function newestOf(facts: readonly Fact[], most: number): Fact[] {
  return [...facts].sort((a, b) => b.line - a.line).slice(0, most)
}

function distinct(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.map((fact) => [factKey(fact), fact])).values()]
}

const MOST_CONSTRAINTS = 60
const MOST_DECISIONS = 12
const LONGEST = 4_000

/**
 * Returns facts that outlast a session: first and last request, constraints, decisions.
 * These facts are stored with the session's brief.
 * Later sessions get lasting facts in the user's own words, not as retold by other agents.
 * Lasting facts have line 0, which is before everything a later session says.
 */
export function lastingFacts(all: readonly Fact[]): Fact[] {
  // Facts that only an earlier brief states are passed on by the text of the next brief.
  const facts = usersFacts(all)
    .filter(({ detail }) => detail.handed !== true)
    .sort((a, b) => a.line - b.line)
  const of = (kind: Fact['kind'], most: number): Fact[] =>
    distinct(facts.filter((fact) => fact.kind === kind)).slice(-most)
  const first = facts.find(({ kind }) => kind === 'request')
  const last = lastRequestOf(facts)
  const requests = [...(first === undefined ? [] : [first]), ...(last === null || last === first ? [] : [last])]
  return [...requests, ...of('constraint', MOST_CONSTRAINTS), ...of('decision', MOST_DECISIONS)].map((fact) => ({
    ...fact,
    line: 0,
    text: fact.text.length > LONGEST ? `${fact.text.slice(0, LONGEST - 1)}…` : fact.text,
  }))
}
