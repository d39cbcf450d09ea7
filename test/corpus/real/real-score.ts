import type { Fact } from '../../../src/contract/fact.js'
import type { Probe, RealCheck, RealLabel, RealLabels } from './real-labels.js'

/**
 * A share of `of` cases, with its 95 % interval (Wilson). `share` is null when there is no case.
 */
export interface Share {
  found: number
  of: number
  share: number | null
  low: number | null
  high: number | null
}

const Z = 1.96

export function share(found: number, of: number): Share {
  if (of === 0) return { found, of, share: null, low: null, high: null }
  const p = found / of
  const spread = Z * Math.sqrt((p * (1 - p)) / of + Z ** 2 / (4 * of ** 2))
  const middle = p + Z ** 2 / (2 * of)
  const scale = 1 + Z ** 2 / of
  return {
    found,
    of,
    share: p,
    low: Math.max(0, (middle - spread) / scale),
    high: Math.min(1, (middle + spread) / scale),
  }
}

/** Adds shares of several sessions. */
export function sum(shares: readonly Share[]): Share {
  return share(
    shares.reduce((all, one) => all + one.found, 0),
    shares.reduce((all, one) => all + one.of, 0),
  )
}

/** Longest part of a reported item that counts. */
const LONGEST_ITEM = 300

/** Reduces a text to what is compared: lower case, without markup, white space joined. */
export function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/[*_`"'“”‘’«»「」]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/^[\s\-•.,:;!?()。！？、，#>]+|[\s\-.,:;!?()。！？、，]+$/g, '')
}

/** True when the item contains the label, or is contained in it with at least half its length. */
export function matches(item: string, label: string): boolean {
  const [told, known] = [bare(item.slice(0, LONGEST_ITEM)), bare(label)]
  if (told === '' || known === '') return false
  return told.includes(known) || (known.includes(told) && told.length * 2 >= known.length)
}

export interface LabelScore {
  recall: Share
  precision: Share
  missed: RealLabel[]
  wrong: string[]
}

const inForce = ({ until, optional }: RealLabel): boolean => until === undefined && optional !== true

/**
 * Compares reported items with labels. Labels that are optional or no longer in force match, but
 * count neither as found nor as missed.
 */
export function scoreLabels(items: readonly string[], labels: readonly RealLabel[]): LabelScore {
  const wanted = labels.filter(inForce)
  const missed = wanted.filter(({ text }) => !items.some((item) => matches(item, text)))
  const wrong = items.filter((item) => !labels.some(({ text }) => matches(item, text)))
  return {
    recall: share(wanted.length - missed.length, wanted.length),
    precision: share(items.length - wrong.length, items.length),
    missed,
    wrong,
  }
}

/** Groups of decisions that are scored apart. */
export type DecisionGroup = 'user' | 'dialog or plan' | 'agent'

export function decisionGroup({ by, how }: Pick<RealLabel, 'by' | 'how'>): DecisionGroup {
  if (how !== undefined && /dialog|plan (?:approved|refused)|approved plan/.test(how)) return 'dialog or plan'
  return by === 'agent' ? 'agent' : 'user'
}

/** Items that a program reports for one session. */
export interface ReportedItems {
  constraints: string[]
  decisions: string[]
  questionsOpen: string[]
  filesChanged: string[]
  commits: string[]
  todosOpen: string[]
  lastRequest: string | null
}

export function itemsOf(facts: readonly Fact[]): ReportedItems {
  const of = (kind: Fact['kind'], state?: Fact['state']): string[] =>
    facts.filter((fact) => fact.kind === kind && (state === undefined || fact.state === state)).map(({ text }) => text)
  return {
    constraints: facts
      .filter((fact) => fact.kind === 'constraint' && fact.detail.withdrawn !== true)
      .map(({ text }) => text),
    decisions: of('decision'),
    questionsOpen: of('question', 'open'),
    filesChanged: of('file', 'changed'),
    commits: of('commit'),
    todosOpen: of('todo', 'open'),
    lastRequest: facts.findLast(({ kind, detail }) => kind === 'request' && detail.last === true)?.text ?? null,
  }
}

const samePath = (one: string, other: string): boolean =>
  `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)

/** Compares two lists by a relation of their elements. */
export function scoreList(
  told: readonly string[],
  known: readonly string[],
  same: (told: string, known: string) => boolean,
): { recall: Share; precision: Share; wrong: string[] } {
  const found = known.filter((one) => told.some((item) => same(item, one)))
  const wrong = told.filter((item) => !known.some((one) => same(item, one)))
  return {
    recall: share(found.length, known.length),
    precision: share(told.length - wrong.length, told.length),
    wrong,
  }
}

export const scoreFiles = (told: readonly string[], known: readonly string[]) => scoreList(told, known, samePath)
export const scoreTexts = (told: readonly string[], known: readonly string[]) => scoreList(told, known, matches)

/** Compared last requests are equal, or one is the beginning of the other after normalising. */
export function isLastRequestRight(told: string | null, labels: Pick<RealLabels, 'lastRequest'>): boolean {
  const [a, b] = [bare(told ?? ''), bare(labels.lastRequest)]
  return a !== '' && b !== '' && (a.includes(b) || b.includes(a))
}

export interface CheckScore {
  /** Labelled checks that are reported with their true outcome. */
  right: Share
  /** Failed checks that are reported as passed. */
  failedToldPassed: RealCheck[]
  /** Passed checks that are reported as failed. */
  passedToldFailed: RealCheck[]
}

/** How far a fact's last run is from a label: the run's result follows the labelled call. */
const distance = ({ line }: Fact, check: RealCheck): number =>
  line >= check.line ? line - check.line : 1_000_000 + check.line - line

const plainCommand = (command: string): string => command.replace(/\s+/g, ' ').trim()

/** Compares the outcome of the last run of each labelled check with what is reported for it. */
export function scoreChecks(facts: readonly Fact[], checks: readonly RealCheck[]): CheckScore {
  const outcomeOf = (check: RealCheck): string | null => {
    const wanted = plainCommand(check.command)
    const fitting = facts.filter(
      ({ kind, text }) => (kind === 'test' || kind === 'command') && plainCommand(text).includes(wanted),
    )
    // A label may quote a part of a command. Of several that contain it, the next run counts.
    const near = [...fitting].sort(
      (a, b) => distance(a, check) - distance(b, check) || Number(b.kind === 'test') - Number(a.kind === 'test'),
    )
    const test = near[0]
    if (test === undefined) return null
    return { passed: 'passed', ok: 'passed', failed: 'failed' }[test.state as 'passed' | 'ok' | 'failed'] ?? 'unknown'
  }
  const told = checks.map((check) => ({ check, outcome: outcomeOf(check) }))
  return {
    right: share(told.filter(({ check, outcome }) => outcome === check.outcome).length, checks.length),
    failedToldPassed: told
      .filter((one) => one.check.outcome === 'failed' && one.outcome === 'passed')
      .map((one) => one.check),
    passedToldFailed: told
      .filter((one) => one.check.outcome === 'passed' && one.outcome === 'failed')
      .map((one) => one.check),
  }
}

/** True when one of the literal answers occurs in the text, whatever the case. */
export function answers(text: string, probe: Probe): boolean {
  const known = text.toLowerCase()
  return probe.answers.some((answer) => known.includes(answer.toLowerCase()))
}

export function scoreProbes(text: string, probes: readonly Probe[]): Share {
  return share(probes.filter((probe) => answers(text, probe)).length, probes.length)
}

/** How the losses that a report names compare with the labels. */
export interface LossScore {
  named: number
  /** Losses that a label confirms and whose quote is not in the summary. */
  real: number
  /** Losses that a label contradicts: the quote is in the summary, or it was no longer in force. */
  unreal: number
}

export function scoreLosses(lost: readonly Fact[], labels: RealLabels, summary: string, boundary: number): LossScore {
  const known = [...labels.constraints, ...labels.decisions, ...labels.questionsOpen].filter(
    ({ line }) => line < boundary,
  )
  const said = bare(summary)
  let real = 0
  let unreal = 0
  for (const fact of lost) {
    const label = known.find(({ text }) => matches(fact.text, text))
    if (label === undefined) continue
    if (said.includes(bare(label.text)) || (label.until !== undefined && label.until < boundary)) unreal++
    else real++
  }
  return { named: lost.length, real, unreal }
}

/** Words that sentences share whatever they are about. */
const COMMON_WORDS = new Set(
  (
    'about after also again because been before being both cannot could does doing done each else even every from ' +
    'have here instead into just like made make more most much must need needs only other over please same should ' +
    'since some such than that their them then there these they this those through under until used uses using very ' +
    'want wants well were what when where which while will with within without would your yours'
  ).split(' '),
)
const NEEDED_LETTERS = 4
const PREFIX = 6
const LEAST_WORDS = 3
/** Share of the needed words that must stand together for a fact to be still there. */
const STILL_THERE = 0.75
const STILL_THERE_UNSPACED = 0.6
/** Lines in which the words count as standing together. */
const TOGETHER = 4
const UNSPACED_SIGN = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u

/**
 * Returns the words without which a fact cannot be known. These are the name of a file, the id of
 * a commit, else its words of some length, its figures and its names.
 */
export function neededWords({ kind, text, detail }: Fact): string[] {
  if (kind === 'file') return [text.slice(text.lastIndexOf('/') + 1).toLowerCase()]
  if (kind === 'commit' && typeof detail.id === 'string') return [detail.id.slice(0, 7).toLowerCase()]
  const said =
    kind === 'command' || kind === 'test' ? text.replace(/^(?:cd \S+ && )+/, '').split(/\s[|>]|\n/)[0]! : text
  const words = (
    said
      .toLowerCase()
      .slice(0, LONGEST_ITEM)
      .match(/[\p{L}\p{N}][\p{L}\p{N}_.:/@-]*/gu) ?? []
  ).flatMap((word) => {
    if (UNSPACED_SIGN.test(word)) return [...word].slice(1).map((sign, at) => [...word][at]! + sign)
    const bareWord = word.replace(/[.:/-]+$/, '')
    return /\d|[_./]/.test(bareWord) || (bareWord.length >= NEEDED_LETTERS && !COMMON_WORDS.has(bareWord))
      ? [bareWord]
      : []
  })
  return [...new Set(words)]
}

/**
 * True when the needed words of a fact stand together nowhere in what the agent still sees. A plain
 * search for letters, which knows nothing of how the loss report compares.
 */
export function isReallyLost(fact: Fact, remaining: string): boolean {
  const text = remaining.toLowerCase()
  if (text.includes(fact.text.toLowerCase().trim())) return false
  if (fact.kind === 'commit' && text.includes(fact.text.toLowerCase())) return false
  const words = neededWords(fact)
  // Any summary has one or two common words, so that only the sentence itself counts.
  const isName = fact.kind === 'file' || fact.kind === 'commit' || fact.kind === 'branch'
  if (words.length === 0 || (!isName && words.length < LEAST_WORDS)) return true
  const share = words.some((word) => UNSPACED_SIGN.test(word)) ? STILL_THERE_UNSPACED : STILL_THERE
  const stems = words.map((word) => (/^\p{L}+$/u.test(word) ? word.slice(0, PREFIX) : word))
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const passage = lines.slice(at, at + TOGETHER).join('\n')
    if (stems.filter((word) => passage.includes(word)).length >= stems.length * share) return false
  }
  return true
}

/** How many of the losses that a report names are real, by kind. */
export function scoreNamedLosses(lost: readonly Fact[], remaining: string): { kind: string; share: Share }[] {
  const kinds = [...new Set(lost.map(({ kind }) => kind))].sort()
  return kinds.map((kind) => {
    const own = lost.filter((fact) => fact.kind === kind)
    return { kind, share: share(own.filter((fact) => isReallyLost(fact, remaining)).length, own.length) }
  })
}
