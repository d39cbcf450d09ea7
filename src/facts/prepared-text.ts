import type { Fact } from '../contract/fact.js'
import { prepareMeaning, SHORT_TEXT_WORDS, splitSentences } from './meaning.js'
import { isNegative, isUnspaced, meaningWords, normalizeText, trimTrailing } from './words.js'

const FIRM = { firm: true }

/** A text that was prepared for many checks. */
export interface PreparedText {
  /** Returns true when the text says what the fact says. */
  contains(fact: Fact): boolean
}

/**
 * Prepares a check whether a text says what a fact says.
 *
 * - Names (files, commits, branches, commands, tests) must occur in the text.
 * - Sentences must occur verbatim, or with most of their meaning within a few sentences.
 * - Numbers and names must be unchanged, and a constraint must deny the same things.
 *
 * In doubt a fact counts as not carried: repeating it costs a line, losing it costs the work.
 *
 * `among`: facts that could be confused with each other.
 * A name that two files share says neither of them.
 * "Add tests for the lexer" does not say "Add tests for the parser".
 */
export function prepareText(text: string, among: readonly Fact[] = []): PreparedText {
  const whole = normalizeText(text)
  const runs = new Set(whole.match(/[\p{L}\p{N}]+/gu))
  const contains = (part: string): boolean => part !== '' && hasEveryWord(runs, part) && isNamed(whole, part)
  /** Returns true when the part occurs verbatim and is not the end of a denial. */
  const saysAs = (part: string): boolean =>
    part !== '' &&
    hasEveryWord(runs, part) &&
    isNamed(whole, part, (at) => isNegative(part) || !isNegative(clauseBefore(whole, at)))
  const mentions = findMentions(whole, among)
  const means = prepareMeaning(text)
  const alike = meaningsByKind(among)
  /** A question and its answer may be two sentences: "Delete the old tables? No." */
  let replies: readonly ReadSentence[] | undefined
  const saysAnswer = (answer: string, question: string): boolean => {
    if (isTelling(answer)) {
      return contains(normalizeText(answer)) || (means(answer, FIRM) && means(`${answer} ${question}`, FIRM))
    }
    replies ??= splitSentences(text.replace(QUESTION_END, ', ')).map(readSentence)
    return replies.some(replyCheck(answer, question))
  }
  return {
    contains(fact) {
      const words = normalizeText(fact.text)
      switch (fact.kind) {
        case 'file':
          return mentions.file(fact.text) || contains(words)
        case 'commit':
          return (
            contains(normalizeText(String(fact.detail.id ?? '').slice(0, 7))) || contains(words) || means(fact.text)
          )
        case 'branch':
          return contains(words)
        case 'test':
        case 'command': {
          if (fact.kind === 'test' && fact.detail.command !== undefined)
            return contains(words) || means(fact.text, { firm: true, others: () => alike(fact.kind) })
          const core = programPart(fact.text)
          return (
            contains(words) ||
            contains(normalizeText(core)) ||
            (meaningWords(core).size > SHORT_TEXT_WORDS && means(core, FIRM))
          )
        }
        case 'request':
          return contains(words) || means(fact.text)
        case 'constraint':
          return saysAs(words) || means(fact.text, { firm: true, denied: true, others: () => alike(fact.kind) })
        case 'decision':
          if (typeof fact.detail.answer === 'string') {
            return contains(words) || saysAnswer(fact.detail.answer, String(fact.detail.question ?? ''))
          }
          return contains(words) || means(fact.text, { firm: true, others: () => alike(fact.kind) })
        default:
          return contains(words) || means(fact.text, { firm: true, others: () => alike(fact.kind) })
      }
    },
  }
}

/** End of a question, up to the text that follows on the line or on the next one. */
const QUESTION_END = /[?？][ \t]*(?:\n[ \t]*(?:[-*][ \t]+)?)?(?=\S)/g

/** Fewest characters of an answer in a script without spaces that says something by itself. */
const TELLING_LENGTH = 4

/** True for an answer that identifies itself. "No" or "SQLite" can stand in any text. */
const isTelling = (answer: string): boolean =>
  isUnspaced(answer) ? [...normalizeText(answer)].length >= TELLING_LENGTH : meaningWords(answer).size > 1

interface ReadSentence {
  /** As `normalizeText` returns it. */
  plain: string
  runs: ReadonlySet<string>
  words: ReadonlySet<string>
}

function readSentence(sentence: string): ReadSentence {
  const plain = normalizeText(sentence)
  return { plain, runs: new Set(plain.match(/[\p{L}\p{N}]+/gu)), words: meaningWords(sentence) }
}

/**
 * Returns a check whether a sentence gives a short answer together with its question.
 * An answer that is a name, such as "SQLite", needs one word of the question beside it.
 * An answer without a meaning of its own, such as "No", needs half of the question's words.
 * Another denial may stand for a "No".
 */
function replyCheck(answer: string, question: string): (sentence: ReadSentence) => boolean {
  const plain = trimTrailing(normalizeText(answer), '.!,;。！')
  const own = meaningWords(answer)
  const asked = [...meaningWords(question)].filter((word) => !own.has(word))
  const needed = own.size > 0 && !isUnspaced(plain) ? 1 : Math.max(1, Math.ceil(asked.length / 2))
  const denial = isNegative(plain)
  const holds = ({ plain: sentence, runs, words }: ReadSentence): boolean => {
    if (denial && own.size === 0) return isNegative(sentence)
    if (own.size === 0 || isUnspaced(plain)) return hasEveryWord(runs, plain) && isNamed(sentence, plain)
    const [word] = own
    return words.has(word!) && (denial || !deniesWord(sentence, word!))
  }
  return (sentence) => asked.filter((word) => sentence.words.has(word)).length >= needed && holds(sentence)
}

/** True when the clause denies something before its word: "not SQLite". */
function deniesWord(sentence: string, word: string): boolean {
  return [...sentence.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}./:@#-]*/gu)]
    .filter(([run]) => meaningWords(run).has(word))
    .every(({ index }) => isNegative(clauseBefore(sentence, index)))
}

const ALIKE = new Set<Fact['kind']>(['todo', 'question', 'constraint', 'decision'])

/** Returns the meanings of all facts of a kind, computed on first use. */
function meaningsByKind(among: readonly Fact[]): (kind: Fact['kind']) => readonly ReadonlySet<string>[] {
  const known = new Map<Fact['kind'], ReadonlySet<string>[]>()
  return (kind) => {
    const meanings =
      known.get(kind) ??
      (ALIKE.has(kind) ? among : []).flatMap((one) => (one.kind === kind ? [meaningWords(one.text)] : []))
    known.set(kind, meanings)
    return meanings
  }
}

/** Quick check without false negatives: a named part has each of its words in the text. */
function hasEveryWord(runs: ReadonlySet<string>, part: string): boolean {
  return isUnspaced(part) || (part.match(/[\p{L}\p{N}]+/gu) ?? []).every((run) => runs.has(run))
}

/** Returns the text before a position in the same clause. */
const clauseBefore = (whole: string, at: number): string =>
  whole
    .slice(Math.max(0, at - 100), at)
    .split(/[.,;:!?()–—。，；：！？]/)
    .at(-1)!

/** Returns true when the part occurs as a word of its own: `web-app.tsx` does not name `app.ts`. */
function isNamed(whole: string, part: string, holds: (at: number) => boolean = () => true): boolean {
  const unspaced = isUnspaced(part)
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    const before = whole[at - 1] ?? ' '
    const after = whole[at + part.length] ?? ' '
    if ((unspaced || !(/[\p{L}\p{N}_-]/u.test(before) || /[\p{L}\p{N}_-]/u.test(after))) && holds(at)) return true
  }
  return false
}

const LONGEST_CORE = 1_000

/**
 * Returns the program and its arguments, without `cd` and pipes that only shorten the output.
 * Only the first line counts, because a command may contain a whole text.
 */
function programPart(command: string): string {
  const [first] = command.trim().split('\n', 1)
  if (first!.length > LONGEST_CORE) return ''
  const core = first!
    .replace(/^(cd\s+\S+\s*(&&|;)\s*)+/, '')
    .replace(/(\s*\|\s*(head|tail|less|cat|tee|grep|sort|uniq|wc|jq)\b[^|]*|\s*\d?>&?\s*(\d|\/dev\/null))+$/, '')
  return core.length < 4 ? '' : core
}

/** File names that many projects have, so the name alone does not identify a file. */
const COMMON =
  /^(index|main|mod|lib|readme|package|init|types|utils?|tests?|config|setup|app|page|route|makefile|dockerfile)\b/

/** Longest path that is considered. */
const LONGEST = 1_000

/** Finds the files that a text names. The text is given as `plain` returns it. */
function findMentions(whole: string, among: readonly Fact[]): { file(path: string): boolean } {
  const named = new Map<string, Set<string>>()
  for (const token of whole.split(/[\s()[\]{}<>,;|]+/)) {
    if (token.length > LONGEST) continue
    const path = trimTrailing(token.replace(/^[@(]*(\.\/)?/, ''), '.:!?').replace(/(?::\d[\d:-]*|#l?\d[\w-]*)$/, '')
    if (path !== '') named.set(fileNameOf(path), (named.get(fileNameOf(path)) ?? new Set()).add(path))
  }
  const bearers = new Map<string, number>()
  for (const { kind, text } of among) {
    const name = fileNameOf(normalizeText(text))
    if (kind === 'file') bearers.set(name, (bearers.get(name) ?? 0) + 1)
  }
  return {
    file(text) {
      const path = normalizeText(text)
      const name = fileNameOf(path)
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

const fileNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
