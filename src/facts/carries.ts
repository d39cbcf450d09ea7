import type { Fact } from '../contract/fact.js'
import { FEW_WORDS, makeMeaning } from './meaning.js'
import { denies, isUnspaced, meaningOf, plain, withoutEnd } from './words.js'

const FIRM = { firm: true }

/** A text prepared for many questions. */
export interface Carrier {
  carries(fact: Fact): boolean
}

/**
 * Whether a text says what a fact says. Names (files, commits, branches, commands, tests) must stand there; what was said in sentences
 * must stand there word for word or with most of its meaning within a few sentences, its figures and names unchanged, and what
 * a constraint denies as denied, and nothing else of it. Errs towards "not carried": what is put back twice costs a line, what is lost costs the work.
 *
 * `among`: the facts that could be confused with each other; one of two files of the same name is not meant by that name alone, nor is
 * one of two todos, questions, constraints or decisions by the words of the other ("Add tests for the parser", "Add tests for the lexer").
 */
export function makeCarrier(text: string, among: readonly Fact[] = []): Carrier {
  const whole = plain(text)
  const runs = new Set(whole.match(/[\p{L}\p{N}]+/gu))
  const says = (part: string): boolean => part !== '' && mayHold(runs, part) && named(whole, part)
  /** Word for word, and not as the end of a denial. */
  const saysAs = (part: string): boolean =>
    part !== '' && mayHold(runs, part) && named(whole, part, (at) => denies(part) || !denies(clauseBefore(whole, at)))
  const mentions = makeMentions(whole, among)
  const means = makeMeaning(text)
  const alike = alikeIn(among)
  return {
    carries(fact) {
      const words = plain(fact.text)
      switch (fact.kind) {
        case 'file':
          return mentions.file(fact.text) || says(words)
        case 'commit':
          return says(plain(String(fact.detail.id ?? '').slice(0, 7))) || says(words) || means(fact.text)
        case 'branch':
          return says(words)
        case 'command': {
          const core = coreOf(fact.text)
          return says(words) || says(plain(core)) || (meaningOf(core).size > FEW_WORDS && means(core, FIRM))
        }
        case 'request':
          return says(words) || means(fact.text)
        case 'constraint':
          return saysAs(words) || means(fact.text, { firm: true, denied: true, others: () => alike(fact.kind) })
        default:
          return says(words) || means(fact.text, { firm: true, others: () => alike(fact.kind) })
      }
    },
  }
}

const ALIKE = new Set<Fact['kind']>(['todo', 'question', 'constraint', 'decision'])

/** The meanings of the facts of a kind, found out when they are asked for. */
function alikeIn(among: readonly Fact[]): (kind: Fact['kind']) => readonly ReadonlySet<string>[] {
  const known = new Map<Fact['kind'], ReadonlySet<string>[]>()
  return (kind) => {
    const meanings =
      known.get(kind) ??
      (ALIKE.has(kind) ? among : []).flatMap((one) => (one.kind === kind ? [meaningOf(one.text)] : []))
    known.set(kind, meanings)
    return meanings
  }
}

/** Cheap and never wrong: what is named somewhere has each of its words there. */
function mayHold(runs: ReadonlySet<string>, part: string): boolean {
  return isUnspaced(part) || (part.match(/[\p{L}\p{N}]+/gu) ?? []).every((run) => runs.has(run))
}

/** What stands before a place in the same clause. */
const clauseBefore = (whole: string, at: number): string =>
  whole
    .slice(Math.max(0, at - 100), at)
    .split(/[.,;:!?()–—。，；：！？]/)
    .at(-1)!

/** As a word of its own: `app.ts` is not named by `web-app.tsx`. */
function named(whole: string, part: string, holds: (at: number) => boolean = () => true): boolean {
  const unspaced = isUnspaced(part)
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    const before = whole[at - 1] ?? ' '
    const after = whole[at + part.length] ?? ' '
    if ((unspaced || !(/[\p{L}\p{N}_-]/u.test(before) || /[\p{L}\p{N}_-]/u.test(after))) && holds(at)) return true
  }
  return false
}

const LONGEST_CORE = 1_000

/** What is run, without where, and without what only shortens its output; of a command with a text inside, its first line. */
function coreOf(command: string): string {
  const [first] = command.trim().split('\n', 1)
  if (first!.length > LONGEST_CORE) return ''
  const core = first!
    .replace(/^(cd\s+\S+\s*(&&|;)\s*)+/, '')
    .replace(/(\s*\|\s*(head|tail|less|cat|tee)\b[^|]*|\s*\d?>&?\s*(\d|\/dev\/null))+$/, '')
  return core.length < 4 ? '' : core
}

/** Half the world has one: alone it says nothing about which is meant. */
const COMMON =
  /^(index|main|mod|lib|readme|package|init|types|utils?|tests?|config|setup|app|page|route|makefile|dockerfile)\b/

/** No path is longer. */
const LONGEST = 1_000

/** Which files a text names (given as `plain` makes it). */
function makeMentions(whole: string, among: readonly Fact[]): { file(path: string): boolean } {
  const named = new Map<string, Set<string>>()
  for (const token of whole.split(/[\s()[\]{}<>,;|]+/)) {
    if (token.length > LONGEST) continue
    const path = withoutEnd(token.replace(/^[@(]*(\.\/)?/, ''), '.:!?').replace(/(?::\d[\d:-]*|#l?\d[\w-]*)$/, '')
    if (path !== '') named.set(lastOf(path), (named.get(lastOf(path)) ?? new Set()).add(path))
  }
  const bearers = new Map<string, number>()
  for (const { kind, text } of among) {
    const name = lastOf(plain(text))
    if (kind === 'file') bearers.set(name, (bearers.get(name) ?? 0) + 1)
  }
  return {
    file(text) {
      const path = plain(text)
      const name = lastOf(path)
      const telling = (bearers.get(name) ?? 0) < 2 && name.length > 4 && !COMMON.test(name)
      return [...(named.get(name) ?? [])].some(
        (mention) =>
          mention === path ||
          `/${mention}`.endsWith(`/${path}`) ||
          (`/${path}`.endsWith(`/${mention}`) && (mention !== name || telling)),
      )
    },
  }
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
