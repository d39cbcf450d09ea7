import type { Fact } from '../contract/fact.js'
import type { Claim, Coverage } from '../contract/records/brief.js'
import { formatChoice } from '../facts/decision-text.js'
import { type PreparedText, prepareText } from '../facts/prepared-text.js'
import { specificsOf } from '../facts/specifics.js'
import { isNegative, meaningWords } from '../facts/words.js'
import { claimedFiles, unsupportedFiles } from './claimed-files.js'
import { sentencesOf as briefSentences, judgeClaims, withoutClaimMarks } from './claims.js'
import { neededFacts } from './needed-facts.js'
import { splitBrief } from './split-brief.js'
import { type TokenReading, unsupportedFigures } from './token-figures.js'
import { searchTranscript } from './transcript-text.js'

/** Additional evidence for files and figures that a brief names. */
export interface ExtraEvidence {
  /** Text of the brief this session began with. */
  earlier?: string | null
  /** Files that git reports as changed. */
  dirty?: readonly string[]
  /** The whole transcript. Null or absent when it is too long to be searched, or unknown. */
  transcript?: Buffer | null
}

/** Calls that a brief must list, because nothing else tells the next session about them. */
export interface NeededCalls {
  /** Lines of the calls, exactly as the brief must contain them. */
  calls: readonly string[]
  /**
   * File that lists all calls. A brief that names it need not list them. Null without such a file.
   */
  path: string | null
}

/** Weight of a call, equal to that of the least important fact. */
const CALL_WEIGHT = 20
/** Maximum length of a brief that is checked; the rest is ignored. */
const LONGEST = 400_000
const MOST_SAID = 200_000
const MOST_UNSUPPORTED = 50

/**
 * Compares a brief with the facts of the session.
 * A fact counts as covered wherever the brief mentions it.
 */
export function checkBrief(
  body: string,
  facts: readonly Fact[],
  readings: readonly TokenReading[],
  evidence: ExtraEvidence = {},
  { calls, path }: NeededCalls = { calls: [], path: null },
): Coverage {
  const text = withoutClaimMarks(body.slice(0, LONGEST))
  const needed = neededFacts(namesNextStep(text) ? facts.filter((fact) => !isHandedStep(fact)) : facts)
  const covers = makeCoverageCheck(text, facts)
  const coverage: Coverage = { score: 1, missing: [], unsupported: [], byKind: {} }
  let [all, kept] = [0, 0]
  for (const { fact, weight } of needed) {
    const kind = coverage.byKind[fact.kind] ?? { total: 0, kept: 0 }
    coverage.byKind[fact.kind] = kind
    // Open work of an earlier brief may be finished without a mention.
    // Open work of an earlier brief is therefore passed on, but its absence lowers no score.
    const counts = !(fact.detail.handed === true && (fact.kind === 'todo' || fact.kind === 'question'))
    if (counts) {
      kind.total++
      all += weight
    }
    if (covers(fact)) {
      if (counts) {
        kind.kept++
        kept += weight
      }
    } else coverage.missing.push({ kind: fact.kind, text: factText(fact) })
  }
  const lines = new Set(text.split('\n'))
  const namesFile = path !== null && text.includes(path)
  const missingCalls = namesFile ? [] : calls.filter((call) => !lines.has(call))
  coverage.missing.push(...missingCalls.map((call) => ({ kind: 'command' as const, text: call.replace(/^- /, '') })))
  if (calls.length > 0) {
    const { total = 0, kept: said = 0 } = coverage.byKind.command ?? {}
    const listed = calls.length - missingCalls.length
    coverage.byKind.command = { total: total + calls.length, kept: said + listed }
    all += calls.length * CALL_WEIGHT
    kept += listed * CALL_WEIGHT
  }
  const findings = shareOfFindings(text, facts)
  if (findings !== null && all > 0) {
    const weight = (all * FINDINGS_SHARE) / (1 - FINDINGS_SHARE)
    kept += findings * weight
    all += weight
  }
  if (all > 0) coverage.score = kept / all
  const earlier = evidence.earlier ?? ''
  const files = unsupportedFiles(claimedFiles(text), facts, `${earlier}\n${(evidence.dirty ?? []).join('\n')}`)
  coverage.unsupported = [
    ...unsupportedFigures(text, readings, `${figuresNamedIn(facts)}\n${earlier}`),
    ...files.map((path) => `file: ${path}`),
  ].slice(0, MOST_UNSUPPORTED)
  const transcript = evidence.transcript ? searchTranscript(evidence.transcript, text, earlier) : null
  const claims = joinClaims(judgeClaims(text, facts, transcript), text, coverage.unsupported)
  if (claims.length > 0) coverage.claims = claims
  return coverage
}

/**
 * Share of the score that the agent's findings have. Measured on 19 labelled sessions.
 * The score's rank correlation with the questions a text answers rises from 0.77 to 0.83.
 */
const FINDINGS_SHARE = 0.3
/** Newest findings that count; older ones are often superseded. */
const MOST_FINDINGS = 60
/** Share of their names and figures that a good brief holds. */
const ENOUGH_FINDINGS = 0.5

/**
 * Returns how much a text holds of the names and figures that the agent found.
 * Findings are too many to be listed as missing. Null when there are none.
 */
function shareOfFindings(text: string, facts: readonly Fact[]): number | null {
  const said = text.toLowerCase()
  const newest = facts.filter(({ kind }) => kind === 'finding').sort((a, b) => b.line - a.line)
  const names = new Set(newest.slice(0, MOST_FINDINGS).flatMap((finding) => [...specificsOf(finding.text)]))
  if (names.size === 0) return null
  const found = [...names].filter((name) => said.includes(name)).length
  return Math.min(1, found / names.size / ENOUGH_FINDINGS)
}

/** Adds the sentences with unsupported files and figures to the judged claims. */
function joinClaims(judged: readonly Claim[], body: string, unsupported: readonly string[]): Claim[] {
  const claims = [...judged]
  const sentences = unsupported.length === 0 ? [] : briefSentences(body)
  for (const one of unsupported) {
    const file = one.startsWith('file: ') ? one.slice('file: '.length) : null
    const found = sentences.find(({ text }) => text.includes(file ?? one))
    if (found === undefined || claims.some(({ sentence }) => sentence === found.text)) continue
    const why =
      file === null ? `no reading of the session supports ${one}` : `the transcript shows no change of ${file}`
    claims.push({ sentence: found.text, verdict: 'unproven', why })
  }
  return claims
}

/**
 * True for a next step that the previous brief handed to this session.
 * Excluded are todos from the agent's own list that Baton added to that brief.
 * Without the exclusion, an open todo was lost at the second handoff in a row.
 */
const isHandedStep = ({ kind, detail }: Fact): boolean =>
  kind === 'todo' && detail.handed === true && detail.listed !== true

/** True when the brief names a next step, which replaces the one its session was given. */
function namesNextStep(body: string): boolean {
  return splitBrief(body).some(({ name, added, text }) => name === 'next' && !added && text.split('\n').length > 1)
}

const LONGEST_CHOICE = 350

/** Returns a fact's text with the detail a reader needs, such as a commit's id. */
export function factText(fact: Fact): string {
  const { kind, text, state, detail } = fact
  if (kind === 'commit' && typeof detail.id === 'string') return `${text} (${detail.id.slice(0, 9)})`
  const choice = formatChoice(fact, LONGEST_CHOICE)
  if (choice !== null) return choice
  return kind === 'command' ? `${text} (${state === 'failed' ? 'fails' : 'passes'})` : text
}

/** Returns figures that the user or the work named, which are not claims about the context. */
function figuresNamedIn(facts: readonly Fact[]): string {
  let said = ''
  for (const { kind, text } of facts) {
    if (kind === 'file' || kind === 'branch' || !/tok|%/i.test(text)) continue
    if (said.length > MOST_SAID) break
    said += `${text.slice(0, MOST_SAID / 10)}\n`
  }
  return said
}

/** Minimum length of a test's own name, without suite and file, to identify it. */
const MIN_TEST_NAME = 8
const MANY_SENTENCES = 6
const MOST_SENTENCES = 0.8
/** Matches the start of a new block: list item, heading, table row or fence. */
const BLOCK_START = /^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||```|~~~)/
/** Separator of two empty sentences: nothing is matched across it, and exact matches ignore it. */
const BLOCK_SEPARATOR = '\n*\n*\n'
const PATH = /(?:[\w@.-]+\/)+([\w@-]+(?:\.[\w-]+)+)/g
const FILE = /[\w@-]+(?:\.[\w-]+)+/g
/** Kinds of facts that are sentences, in which a file may be named with or without its folders. */
const SENTENCE_KINDS = new Set<Fact['kind']>(['todo', 'decision', 'question', 'constraint'])

/**
 * Returns a function that tells whether a brief covers a fact.
 * Every paragraph and list item is read alone, so that unrelated text cannot complete a thought.
 * A prohibition must be stated within one sentence.
 * A commit is identified by its id or subject, not by what it changed.
 */
export function makeCoverageCheck(body: string, facts: readonly Fact[]): (fact: Fact) => boolean {
  // Duplicates are removed, because each block is read alone.
  const blocks = [...new Set(blocksOf(body))]
  const files = facts.filter(({ kind }) => kind === 'file')
  const plain = prepareText(blocks.join(BLOCK_SEPARATOR), facts)
  const sentences = blocks.flatMap(sentencesOf)
  const strict = once(() => prepareText(sentences.filter(isNegative).join(BLOCK_SEPARATOR), facts))
  const short = once(() => prepareText(sentences.filter(namesFile).join(BLOCK_SEPARATOR).replace(PATH, '$1'), facts))
  const filesByName = countOf(files.map(({ text }) => text.slice(text.lastIndexOf('/') + 1)))
  const names = countOf(
    facts.flatMap(({ kind, text, state }) => (kind === 'test' && state === 'failed' ? [nameOf(text)] : [])),
  )
  const verbatim = (text: string): boolean =>
    plain.contains({ kind: 'branch', text, line: 0, at: null, state: null, detail: {} })

  /**
   * True when the brief contains each sentence of a request, or most of many.
   * A constraint quoted from a request does not cover the whole request.
   */
  const coversEachSentence = (fact: Fact): boolean => {
    const sentencesWithMeaning = fact.text
      .split('\n')
      .flatMap(sentencesOf)
      .filter((sentence) => meaningWords(sentence).size > 1)
    const said = sentencesWithMeaning.filter((sentence) => plain.contains({ ...fact, text: sentence })).length
    return (
      sentencesWithMeaning.length > 0 &&
      said >=
        (sentencesWithMeaning.length < MANY_SENTENCES
          ? sentencesWithMeaning.length
          : sentencesWithMeaning.length * MOST_SENTENCES)
    )
  }

  return (fact) => {
    const forbids = fact.kind === 'constraint' && fact.state === 'forbidden' && isNegative(fact.text)
    if (fact.kind === 'commit' && typeof fact.detail.id === 'string') {
      return verbatim(fact.detail.id.slice(0, 7)) || verbatim(fact.text)
    }
    if (fact.kind === 'request') return verbatim(fact.text) || coversEachSentence(fact)
    if (forbids ? verbatim(fact.text) || strict().contains(fact) : plain.contains(fact)) return true
    if (fact.kind === 'test') {
      const name = nameOf(fact.text)
      return name.length >= MIN_TEST_NAME && names.get(name) === 1 && verbatim(name)
    }
    const named = SENTENCE_KINDS.has(fact.kind) ? (fact.text.match(FILE) ?? []) : []
    if (named.length === 0 || !named.every((name) => body.includes(name))) return false
    const text = fact.text.replace(PATH, (path, name) => ((filesByName.get(name) ?? 0) > 1 ? path : name))
    return short().contains({ ...fact, text })
  }
}

/** Returns paragraphs, items and rows, each joined to one line; quotations lose their marks. */
function blocksOf(body: string): string[] {
  const blocks: string[] = []
  let open = false
  for (const line of body.split('\n')) {
    const text = line.replace(/^\s*(?:>\s?)+/, '').trimEnd()
    if (text.trim() === '') open = false
    else if (open && !BLOCK_START.test(text)) blocks[blocks.length - 1] += ` ${text.trim()}`
    else {
      blocks.push(text)
      open = !/^\s*#{1,6}\s/.test(text)
    }
  }
  return blocks
}

/** True for a sentence with words around a file name; a path alone says nothing. */
const namesFile = (sentence: string): boolean => /[\w@-]\.[\w-]/.test(sentence) && /\S\s+\S+\s+\S/.test(sentence)
const sentencesOf = (block: string): string[] => block.split(/(?<=[.!?;])\s+|(?<=[。！？；])/)

/**
 * Returns a test's own name: the last part of
 * `tests/a.py::TestLogin::test_expired` or `a.test.ts > login`.
 */
const nameOf = (test: string): string =>
  test
    .split(/::| > |#/)
    .at(-1)!
    .trim()

function countOf(all: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  return counts
}

function once(make: () => PreparedText): () => PreparedText {
  let made: PreparedText | undefined
  return () => (made ??= make())
}
