import type { Fact } from '../contract/fact.js'
import type { Coverage } from '../contract/records/brief.js'
import { type Carrier, makeCarrier } from '../facts/carries.js'
import { denies, meaningOf } from '../facts/words.js'
import { claimedFiles, unsupportedFiles } from './claimed-files.js'
import { neededFacts } from './needed-facts.js'
import { splitBrief } from './split-brief.js'
import { type TokenReading, unsupportedFigures } from './token-figures.js'

/** What else vouches for a file or a figure that a brief names. */
export interface Vouching {
  /** The brief this session itself began with. */
  earlier?: string | null
  /** Files that git calls changed. */
  dirty?: readonly string[]
}

/** Calls that a brief has to list, because nothing else tells the next session that they were made. */
export interface NeededCalls {
  /** One line each, as the brief is to have it. */
  calls: readonly string[]
  /** A file that lists them all: a brief that names it needs none of them. Null where there is no such file. */
  path: string | null
}

/** A call weighs as little as the least fact. */
const CALL_WEIGHT = 20
/** Of a longer brief the rest is not looked at; nobody could read it either. */
const LONGEST = 400_000
const MOST_SAID = 200_000
const MOST_UNSUPPORTED = 50

/** Compares a brief with what happened. What a brief says more than once, or elsewhere than asked, counts as said. */
export function checkBrief(
  body: string,
  facts: readonly Fact[],
  readings: readonly TokenReading[],
  vouching: Vouching = {},
  { calls, path }: NeededCalls = { calls: [], path: null },
): Coverage {
  const text = body.slice(0, LONGEST)
  const needed = neededFacts(namesNextStep(text) ? facts.filter((fact) => !isHandedTodo(fact)) : facts)
  const carries = makeCarrying(text, facts)
  const coverage: Coverage = { score: 1, missing: [], unsupported: [], byKind: {} }
  let [all, kept] = [0, 0]
  for (const { fact, weight } of needed) {
    const kind = coverage.byKind[fact.kind] ?? { total: 0, kept: 0 }
    coverage.byKind[fact.kind] = kind
    // Open work of an earlier brief may be over without a word: it is carried on, and not held
    // against the brief.
    const counts = !(fact.detail.handed === true && (fact.kind === 'todo' || fact.kind === 'question'))
    if (counts) {
      kind.total++
      all += weight
    }
    if (carries(fact)) {
      if (counts) {
        kind.kept++
        kept += weight
      }
    } else coverage.missing.push({ kind: fact.kind, text: toldAs(fact) })
  }
  const lines = new Set(text.split('\n'))
  const namesFile = path !== null && text.includes(path)
  const missed = namesFile ? [] : calls.filter((call) => !lines.has(call))
  coverage.missing.push(...missed.map((call) => ({ kind: 'command' as const, text: call.replace(/^- /, '') })))
  if (calls.length > 0) {
    const { total = 0, kept: said = 0 } = coverage.byKind.command ?? {}
    const listed = calls.length - missed.length
    coverage.byKind.command = { total: total + calls.length, kept: said + listed }
    all += calls.length * CALL_WEIGHT
    kept += listed * CALL_WEIGHT
  }
  if (all > 0) coverage.score = kept / all
  const earlier = vouching.earlier ?? ''
  const files = unsupportedFiles(claimedFiles(text), facts, `${earlier}\n${(vouching.dirty ?? []).join('\n')}`)
  coverage.unsupported = [
    ...unsupportedFigures(text, readings, `${saidIn(facts)}\n${earlier}`),
    ...files.map((path) => `file: ${path}`),
  ].slice(0, MOST_UNSUPPORTED)
  return coverage
}

const isHandedTodo = ({ kind, detail }: Fact): boolean => kind === 'todo' && detail.handed === true

/** The next step that a brief names takes the place of the one that its session was handed. */
function namesNextStep(body: string): boolean {
  return splitBrief(body).some(({ name, added, text }) => name === 'next' && !added && text.split('\n').length > 1)
}

/** With what only the fact knows and whoever reads of it needs. */
export function toldAs({ kind, text, state, detail }: Fact): string {
  if (kind === 'commit' && typeof detail.id === 'string') return `${text} (${detail.id.slice(0, 9)})`
  return kind === 'command' ? `${text} (${state === 'failed' ? 'fails' : 'passes'})` : text
}

/** Figures the user or the work itself named are no claims about the context. */
function saidIn(facts: readonly Fact[]): string {
  let said = ''
  for (const { kind, text } of facts) {
    if (kind === 'file' || kind === 'branch' || !/tok|%/i.test(text)) continue
    if (said.length > MOST_SAID) break
    said += `${text.slice(0, MOST_SAID / 10)}\n`
  }
  return said
}

/** A test's own name, without suite and file, tells it apart from this length on. */
const TELLING_NAME = 8
const MANY = 6
const MOST = 0.8
/** Begins something of its own: a list's item, a heading, a row, a fence. */
const BEGINS = /^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||```|~~~)/
/** Two sentences without a word: nothing is read across them, and what is compared word for word does not see them. */
const APART = '\n*\n*\n'
const PATH = /(?:[\w@.-]+\/)+([\w@-]+(?:\.[\w-]+)+)/g
const FILE = /[\w@-]+(?:\.[\w-]+)+/g
/** What was said in sentences, where a file may be named with its folders or without. */
const SENTENCES = new Set<Fact['kind']>(['todo', 'decision', 'question', 'constraint'])

/**
 * Whether a brief says what a fact says. Each paragraph and each item of a list is read by itself: what is added elsewhere can
 * neither complete a thought by accident nor tear one apart. What is forbidden must be forbidden within one sentence; a commit is known
 * by its id or its subject, not by what it did.
 */
export function makeCarrying(body: string, facts: readonly Fact[]): (fact: Fact) => boolean {
  // Each is read by itself: what is said twice is said.
  const blocks = [...new Set(blocksOf(body))]
  const files = facts.filter(({ kind }) => kind === 'file')
  const plain = makeCarrier(blocks.join(APART), facts)
  const sentences = blocks.flatMap(sentencesOf)
  const strict = once(() => makeCarrier(sentences.filter(denies).join(APART), facts))
  const short = once(() => makeCarrier(sentences.filter(namesFile).join(APART).replace(PATH, '$1'), facts))
  const bearers = countOf(files.map(({ text }) => text.slice(text.lastIndexOf('/') + 1)))
  const names = countOf(
    facts.flatMap(({ kind, text, state }) => (kind === 'test' && state === 'failed' ? [nameOf(text)] : [])),
  )
  const verbatim = (text: string): boolean =>
    plain.carries({ kind: 'branch', text, line: 0, at: null, state: null, detail: {} })

  /** A constraint quoted from a request is not the request: each of its sentences must be there, of many most. */
  const saysEach = (fact: Fact): boolean => {
    const telling = fact.text
      .split('\n')
      .flatMap(sentencesOf)
      .filter((sentence) => meaningOf(sentence).size > 1)
    const said = telling.filter((sentence) => plain.carries({ ...fact, text: sentence })).length
    return telling.length > 0 && said >= (telling.length < MANY ? telling.length : telling.length * MOST)
  }

  return (fact) => {
    const forbids = fact.kind === 'constraint' && fact.state === 'forbidden' && denies(fact.text)
    if (fact.kind === 'commit' && typeof fact.detail.id === 'string') {
      return verbatim(fact.detail.id.slice(0, 7)) || verbatim(fact.text)
    }
    if (fact.kind === 'request') return verbatim(fact.text) || saysEach(fact)
    if (forbids ? verbatim(fact.text) || strict().carries(fact) : plain.carries(fact)) return true
    if (fact.kind === 'test') {
      const name = nameOf(fact.text)
      return name.length >= TELLING_NAME && names.get(name) === 1 && verbatim(name)
    }
    const named = SENTENCES.has(fact.kind) ? (fact.text.match(FILE) ?? []) : []
    if (named.length === 0 || !named.every((name) => body.includes(name))) return false
    const text = fact.text.replace(PATH, (path, name) => ((bearers.get(name) ?? 0) > 1 ? path : name))
    return short().carries({ ...fact, text })
  }
}

/** Paragraphs, items and rows, each on one line however it was wrapped; quotations without their marks. */
function blocksOf(body: string): string[] {
  const blocks: string[] = []
  let open = false
  for (const line of body.split('\n')) {
    const text = line.replace(/^\s*(?:>\s?)+/, '').trimEnd()
    if (text.trim() === '') open = false
    else if (open && !BEGINS.test(text)) blocks[blocks.length - 1] += ` ${text.trim()}`
    else {
      blocks.push(text)
      open = !/^\s*#{1,6}\s/.test(text)
    }
  }
  return blocks
}

/** With words round it: a path alone says nothing of what is to be done there. */
const namesFile = (sentence: string): boolean => /[\w@-]\.[\w-]/.test(sentence) && /\S\s+\S+\s+\S/.test(sentence)
const sentencesOf = (block: string): string[] => block.split(/(?<=[.!?;])\s+|(?<=[。！？；])/)

/** `tests/test_auth.py::TestLogin::test_expired` and `auth.test.ts > login > expired` are known by their last part. */
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

function once(make: () => Carrier): () => Carrier {
  let made: Carrier | undefined
  return () => (made ??= make())
}
