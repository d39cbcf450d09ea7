import type { Fact } from '../contract/fact.js'
import type { Claim } from '../contract/records/brief.js'
import { type CheckKind, CLAIM_WORDS, type ClaimKind, type ClaimWords } from './claim-words.js'
import { claimedBy, samePath } from './claimed-files.js'
import { scanMarkdown } from './scan-markdown.js'
import { ADDITIONS_TITLE, LATE_FINDINGS_TITLE, type SectionName } from './sections.js'
import { findHeadings, splitBrief } from './split-brief.js'

/** The text of a session's transcript, searched for what a brief names. */
export interface TranscriptText {
  /** True when the transcript contains this text, whatever the case of its letters. */
  contains(text: string): boolean
  /** True when the transcript contains the number beside the unit. */
  containsFigure(figure: string, unit: string): boolean
}

const MOST_SENTENCES = 3_000
const LONGEST_SENTENCE = 1_500
const MOST_CLAIMS = 60

/** Sections of plans, wishes and quotations: their sentences claim no outcome. */
const NO_OUTCOMES = new Set<SectionName | null>(['goal', 'next', 'questions', 'constraints', 'request', 'verify'])

/** A sentence of a brief at its place. */
export interface BriefSentence {
  /** Number of the line in the body, counted from 0. */
  line: number
  text: string
  section: SectionName | null
}

/**
 * Compares what the sentences of a brief claim with the facts and the text of the transcript.
 * Claimed outcomes of checks, commits and pushes are compared with the real outcomes.
 * Claimed commits, files, versions and figures must occur in the transcript.
 * Without a transcript (null) these four are not judged.
 */
export function judgeClaims(body: string, facts: readonly Fact[], transcript: TranscriptText | null): Claim[] {
  const claims: Claim[] = []
  for (const sentence of sentencesOf(body)) {
    if (claims.length >= MOST_CLAIMS) break
    const judged =
      (NO_OUTCOMES.has(sentence.section) ? null : judgeOutcomes(sentence.text, facts, transcript)) ??
      (transcript === null ? null : judgeNames(sentence.text, transcript))
    if (judged !== null) claims.push({ ...judged, sentence: sentence.text })
  }
  return claims
}

const SENTENCE_END = /(?<=[.!?;])\s+(?=\S)|(?<=[。！？；])/
const MARK = / \*\*\[Baton: (?:contradicted|unproven): [^\n]*?\]\*\*/g

/** Removes the marks of an earlier check. */
export const withoutClaimMarks = (body: string): string => body.replace(MARK, '')

/** Writes the verdict beside every sentence that is contradicted or unproven. */
export function markClaims(body: string, claims: readonly Claim[]): string {
  let marked = body
  for (const { sentence, verdict, why } of claims) {
    const at = marked.indexOf(sentence)
    const end = at + sentence.length
    if (at < 0 || marked.startsWith(' **[Baton: ', end)) continue
    marked = `${marked.slice(0, end)} **[Baton: ${verdict}: ${why.replace(/[\n\]]/g, ' ')}]**${marked.slice(end)}`
  }
  return marked
}

/** Returns the sentences of a brief's own sections. Skips quotations, code and headings. */
export function sentencesOf(body: string): BriefSentence[] {
  const lines = withoutClaimMarks(body).split('\n')
  const { kinds } = scanMarkdown(lines)
  const headings = new Set(findHeadings(lines).flatMap(({ line }) => (/^\s{0,3}#/.test(lines[line]!) ? [line] : [])))
  const found: BriefSentence[] = []
  let line = 0
  for (const part of splitBrief(lines.join('\n'))) {
    const own = part.text.split('\n')
    const start = lines.indexOf(own[0]!, line)
    const isOwn = !part.added && part.heading !== LATE_FINDINGS_TITLE && part.heading !== ADDITIONS_TITLE
    for (const [at, text] of own.entries()) {
      const number = start + at
      if (!isOwn || kinds[number] !== 'plain' || headings.has(number) || /^\s*>/.test(text)) continue
      for (const sentence of text.split(SENTENCE_END)) {
        const trimmed = sentence.trim().replace(/^(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/, '')
        if (trimmed.length < 4 || trimmed.length > LONGEST_SENTENCE) continue
        found.push({ line: number, text: trimmed, section: part.name })
        if (found.length >= MOST_SENTENCES) return found
      }
    }
    line = start + own.length
  }
  return found
}

type Verdict = Pick<Claim, 'verdict' | 'why'>
const contradicted = (why: string): Verdict => ({ verdict: 'contradicted', why })
const unproven = (why: string): Verdict => ({ verdict: 'unproven', why })

/** Returns the outcomes that a sentence claims, clause by clause. */
export function claimsOf(sentence: string): ClaimKind[] {
  // Code and quotations are not the writer's own claim.
  const said = sentence.replace(/`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」/g, '…')
  const kinds = CLAIM_WORDS.flatMap((words) => (words.hedges.test(said) ? [] : claimsIn(said, words)))
  return [...new Set(kinds)]
}

const CLAUSES = /,\s+|\s+(?:and|but|while|und|aber)\s+|、|；|;\s+|\s+[–—]\s+/

function claimsIn(sentence: string, words: ClaimWords): ClaimKind[] {
  const found: ClaimKind[] = []
  let named: CheckKind[] = []
  for (const clause of sentence.split(CLAUSES)) {
    const here = (Object.keys(words.checks) as CheckKind[]).filter((kind) => words.checks[kind].test(clause))
    if (here.length > 0) named = here
    const fails = here.length > 0 && words.fails.test(clause)
    const passes = !fails && words.passes.test(clause) && !words.denies.test(clause.replace(words.passes, ''))
    if (fails || passes) for (const kind of named) found.push(`${kind} ${fails ? 'fails' : 'passes'}`)
    if (words.uncommitted.test(clause)) found.push('uncommitted')
    else if (words.committed.test(clause) && !words.denies.test(clause)) found.push('committed')
    if (words.unpushed.test(clause)) found.push('unpushed')
    else if (words.pushed.test(clause) && !words.denies.test(clause)) found.push('pushed')
    for (const kind of ['merged', 'published'] as const)
      if (words[kind].test(clause) && !words.denies.test(clause)) found.push(kind)
    if (words.untouched.test(clause)) found.push('untouched')
  }
  return found
}

function judgeOutcomes(sentence: string, facts: readonly Fact[], transcript: TranscriptText | null): Verdict | null {
  const verdicts = claimsOf(sentence).flatMap((kind) => judgeOutcome(kind, sentence, facts, transcript) ?? [])
  return (
    verdicts.find(({ verdict }) => verdict === 'contradicted') ??
    verdicts[0] ??
    judgeBranch(sentence, facts) ??
    judgeChanged(sentence, facts)
  )
}

function judgeOutcome(
  kind: ClaimKind,
  sentence: string,
  facts: readonly Fact[],
  transcript: TranscriptText | null,
): Verdict | null {
  switch (kind) {
    case 'committed':
      return judgeCommitted(sentence, facts)
    case 'uncommitted':
      return judgeUncommitted(facts)
    case 'pushed':
      return judgePushed(facts)
    case 'unpushed':
      return judgeUnpushed(facts)
    case 'merged':
      return judgeMerged(sentence, facts, transcript)
    case 'published':
      return done(facts, /\b(?:deploy|publish|release|push --tags|git tag)\b/)
        ? null
        : unproven('the transcript shows no command that deployed, released or published it')
    case 'untouched':
      return judgeUntouched(sentence, facts)
    default: {
      const [check, outcome] = kind.split(' ') as [CheckKind, 'passes' | 'fails']
      return judgeCheck(check, outcome, sentence, facts)
    }
  }
}

const CHECK_COMMANDS: Record<Exclude<CheckKind, 'test'>, RegExp> = {
  lint: /\b(?:lint|eslint|biome|ruff|clippy|prettier|golangci|flake8|rubocop|gofmt|fmt)\b/,
  types: /\b(?:tsc|vue-tsc|type-?check|mypy|pyright|check-types)\b/,
  build: /\b(?:build|compile|tsc|make|cargo check|go vet|assemble|package)\b/,
}

/** Returns the runs of a kind of check, oldest first. */
function runsOf(check: CheckKind, facts: readonly Fact[]): Fact[] {
  return facts
    .filter(({ kind, text, detail }) =>
      check === 'test'
        ? kind === 'test' && detail.command === undefined
        : (kind === 'command' || kind === 'test') && CHECK_COMMANDS[check].test(text),
    )
    .sort((a, b) => a.line - b.line)
}

/** Words that say which of several runs is meant. */
const QUALIFIER =
  /\b(?:unit|integration|e2e|end-to-end|smoke|canary|api|web|frontend|backend|desktop|server|client)\b/gi

function judgeCheck(
  check: CheckKind,
  outcome: 'passes' | 'fails',
  sentence: string,
  facts: readonly Fact[],
): Verdict | null {
  const all = runsOf(check, facts)
  const commands = [...sentence.matchAll(/`([^`]+)`/g)]
    .map(([, code]) => code!.trim())
    .filter((code) => /\s/.test(code))
  const named = commands.flatMap((command) => all.filter(({ text }) => text.includes(command)))
  const qualifiers = [...sentence.matchAll(QUALIFIER)].map(([word]) => word.toLowerCase())
  const qualified = all.filter(({ text }) => qualifiers.some((word) => text.toLowerCase().includes(word)))
  const runs = named.length > 0 ? named : qualified.length > 0 ? qualified : all
  const last = runs.at(-1)
  if (last === undefined) return outcome === 'fails' ? null : unproven(`the transcript shows no ${CHECK_NAMES[check]}`)
  const passed = last.state === 'passed' || last.state === 'ok'
  if (outcome === 'passes')
    return passed
      ? null
      : last.state === 'failed'
        ? contradicted(`${quote(last.text)} failed ${when(last)}`)
        : unproven(`the outcome of ${quote(last.text)} ${when(last)} is unknown`)
  const failing = check === 'test' && facts.some(({ kind, state }) => kind === 'test' && state === 'failed')
  return passed && !failing ? contradicted(`${quote(last.text)} passed ${when(last)}`) : null
}

const CHECK_NAMES: Record<CheckKind, string> = {
  test: 'test run',
  lint: 'run of a linter',
  types: 'type check',
  build: 'build',
}

const SCRATCH = /^(?:\/private)?\/(?:tmp|var)\//
const lastOf = (facts: readonly Fact[]): Fact | null =>
  facts.reduce<Fact | null>((last, fact) => (last === null || fact.line >= last.line ? fact : last), null)
const lastCommit = (facts: readonly Fact[]): Fact | null => lastOf(facts.filter(({ kind }) => kind === 'commit'))
const lastChange = (facts: readonly Fact[]): Fact | null =>
  lastOf(facts.filter(({ kind, state, text }) => kind === 'file' && state === 'changed' && !SCRATCH.test(text)))
const commandsOf = (facts: readonly Fact[], pattern: RegExp): Fact[] =>
  facts.filter(({ kind, text }) => kind === 'command' && pattern.test(text))
const done = (facts: readonly Fact[], pattern: RegExp): boolean =>
  commandsOf(facts, pattern).some(({ state }) => state !== 'failed')

function judgeCommitted(sentence: string, facts: readonly Fact[]): Verdict | null {
  const commit = lastCommit(facts)
  if (commit === null)
    return done(facts, /\bgit commit\b|\bgt (?:create|modify)\b|\bjj commit\b/)
      ? null
      : unproven('the transcript shows no commit')
  const change = lastChange(facts)
  const isAll = /\b(?:all|everything|clean|nothing)\b|すべて|全て|alles/i.test(sentence)
  if (isAll && change !== null && change.line > commit.line)
    return contradicted(`${quote(change.text)} changed ${when(change)}, after the last commit ${when(commit)}`)
  return null
}

function judgeUncommitted(facts: readonly Fact[]): Verdict | null {
  const [commit, change] = [lastCommit(facts), lastChange(facts)]
  return commit !== null && (change === null || change.line < commit.line)
    ? contradicted(`${quote(commit.text)} was committed ${when(commit)}`)
    : null
}

function judgeMerged(sentence: string, facts: readonly Fact[], transcript: TranscriptText | null): Verdict | null {
  if (transcript === null || done(facts, /\b(?:gh pr merge|git merge|git pull|gt (?:merge|sync))\b/)) return null
  const number = /#(\d{1,7})\b/.exec(sentence)?.[1]
  const isNamed = number === undefined ? transcript.contains('merged') : transcript.containsFigure(number, 'merged')
  return isNamed ? null : unproven('the transcript shows no merge')
}

/** Commands that change a file they name. */
const READS_ONLY =
  /^\s*(?:cd \S+ && )?(?:cat|head|tail|less|grep|rg|ls|wc|diff|sed -n|git (?:diff|log|show|status|blame|grep))\b/

/** A file that was read and that nothing in the transcript changed. */
function judgeChanged(sentence: string, facts: readonly Fact[]): Verdict | null {
  for (const path of claimedBy(sentence)) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const files = facts.filter(({ kind, text }) => kind === 'file' && samePath(text, path))
    if (files.length === 0 || files.some(({ state }) => state === 'changed')) continue
    if (commandsOf(facts, /./s).some(({ text }) => text.includes(name) && !READS_ONLY.test(text))) continue
    return unproven(`the transcript shows no change of ${quote(path)}, which was read ${when(files[0]!)}`)
  }
  return null
}

const BRANCH =
  /\b(?:on|current|the) branch(?: is| named)?:? `?([\w.-]*[/-][\w./-]*\w)|^branch(?: is)?:? `?([\w./-]*\w)/i

function judgeBranch(sentence: string, facts: readonly Fact[]): Verdict | null {
  const named = BRANCH.exec(sentence)
  const branch = lastOf(facts.filter(({ kind }) => kind === 'branch'))
  const name = named?.[1] ?? named?.[2]
  if (name === undefined || branch === null || branch.text === name || branch.text.startsWith(name)) return null
  return unproven(`the last branch in the transcript is ${quote(branch.text)} ${when(branch)}`)
}

const PUSHES = /\bgit push\b|\bgt (?:submit|ss)\b|\bgh pr create\b|\bjj git push\b/

function judgePushed(facts: readonly Fact[]): Verdict | null {
  const push = lastOf(commandsOf(facts, PUSHES))
  if (push === null) return unproven('the transcript shows no push')
  if (push.state === 'failed') return contradicted(`${quote(push.text)} failed ${when(push)}`)
  const commit = lastCommit(facts)
  return commit !== null && commit.line > push.line
    ? unproven(`the last commit ${when(commit)} is newer than the last push ${when(push)}`)
    : null
}

function judgeUnpushed(facts: readonly Fact[]): Verdict | null {
  const push = lastOf(commandsOf(facts, PUSHES).filter(({ state }) => state === 'ok'))
  const commit = lastCommit(facts)
  return push !== null && (commit === null || commit.line <= push.line)
    ? contradicted(`${quote(push.text)} succeeded ${when(push)}`)
    : null
}

function judgeUntouched(sentence: string, facts: readonly Fact[]): Verdict | null {
  const paths = pathsIn(sentence)
  const file = facts.find(
    ({ kind, state, text }) =>
      kind === 'file' &&
      state === 'changed' &&
      (sentence.includes(text) || paths.some((path) => `/${text}`.endsWith(`/${path}`))),
  )
  if (file) return contradicted(`${quote(file.text)} was changed ${when(file)}`)
  return null
}

const PATH = new RegExp(
  [
    // The first pattern matches a path with folders, the second a file name alone.
    String.raw`(?<![\w/.@~-])(?:[\w@.~-]+\/)+[\w@-]+(?:\.[\w-]+)+`,
    String.raw`(?<![\w/.@-])[\w@-]{2,60}\.(?:[a-z]{1,4}|tsx|json|yaml|toml|test\.ts)(?![\w/(])`,
  ].join('|'),
  'g',
)
const pathsIn = (sentence: string): string[] =>
  [...sentence.replace(/https?:\/\/\S+/g, '').matchAll(PATH)].map(([path]) => path.replace(/^\.\//, ''))

const COMMIT_ID = /(?<![\w/#.-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])/g
const VERSION =
  /(?<![\w./-])v?\d{1,4}\.\d{1,5}\.\d{1,5}(?:-[\w.]+)?(?![\w.]*\w:)|(?<![\w./-])v\d{1,4}(?:\.\d{1,5})?(?![\w.-])/g
const ISSUE = /(?<![\w&/])#(\d{1,7})(?!\w)/g
const UNITS =
  'ms|s|secs?|seconds?|min(?:utes?)?|hours?|h|days?|%|percent|kb|mb|gb|kib|mib|bytes?|x|times|tests?|failures?|' +
  'errors?|warnings?|files?|lines?|commits?|rows?|records?|requests?|items?|entries|tokens?|users?|retries|attempts?|' +
  'passed|passing|failed|件|秒|分|回|個|行|倍|ミリ秒|テスト|ファイル'
const FIGURE = new RegExp(
  String.raw`(?<![\w.,/#:$-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)( ?)(${UNITS})(?![\p{sc=Latin}\d])`,
  'giu',
)
/** Smallest plain count to look up in the transcript. Writers count up to two themselves. */
const LEAST_COUNT = 3
/** Numbers of two and more digits without a unit, such as ports and limits. */
const NUMBER = /(?<![\w.,/#:$@–-])\d{2,9}(?![\w.,:/–-])(?!\.\d)/g
/** Names of code outside of backquotes. */
const IDENTIFIER = /(?<![\w./@-])(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|\w+_\w+)(?![\w./-])/g
/** `45/45 tests`. */
const RATIO = /(?<![\w./-])(\d{1,6})\/(\d{1,6})(?![\w./-])/g
const CODE_NAME = /`([A-Za-z_$][\w$./:@-]{3,80})(?:\(\))?`/g

/** Judges names and figures: what a brief reports must occur in the transcript. */
function judgeNames(sentence: string, transcript: TranscriptText): Verdict | null {
  const unknown = (what: string): Verdict => unproven(`the transcript does not contain ${what}`)
  for (const [id] of sentence.matchAll(COMMIT_ID))
    if (!transcript.contains(id.slice(0, 7))) return unknown(`commit ${id.slice(0, 12)}`)
  for (const [, number] of sentence.matchAll(ISSUE))
    if (!transcript.contains(`#${number}`) && !transcript.containsFigure(number!, '')) return unknown(`#${number}`)
  for (const [version] of sentence.matchAll(VERSION))
    if (!transcript.contains(version.replace(/^v/, ''))) return unknown(`version ${version}`)
  for (const path of pathsIn(sentence)) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (!/^\d+\.\d/.test(name) && !transcript.contains(name)) return unknown(quote(path))
  }
  for (const [, name] of sentence.matchAll(CODE_NAME))
    if (!transcript.contains(name!) && !transcript.contains(name!.split(/[./:]/).at(-1)!)) return unknown(quote(name!))
  for (const [ratio, , all] of sentence.matchAll(RATIO))
    if (!transcript.contains(ratio) && !['test', 'pass', ''].some((unit) => transcript.containsFigure(all!, unit)))
      return unknown(ratio)
  for (const [, figure, , unit] of sentence.matchAll(FIGURE)) {
    const value = Number(figure!.replaceAll(',', ''))
    if (value < LEAST_COUNT && !figure!.includes('.') && !/^(?:ms|%|[kmg]i?b)$/i.test(unit!)) continue
    if (!transcript.containsFigure(figure!, unit!)) return unknown(`the figure ${figure} ${unit}`)
  }
  for (const [number] of sentence.matchAll(NUMBER))
    if (!transcript.containsFigure(number, '')) return unknown(`the figure ${number}`)
  for (const [name] of sentence.matchAll(IDENTIFIER)) if (!transcript.contains(name)) return unknown(quote(name))
  return null
}

const LONGEST_QUOTE = 80

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'").trim()
  return `\`${line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE - 1)}…` : line}\``
}

const when = ({ at, line }: Fact): string =>
  at === null ? `(line ${line})` : `at ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC (line ${line})`
