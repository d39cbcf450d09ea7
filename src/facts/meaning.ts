import { isExactWord, isNegative, meaningWords, normalizeText } from './words.js'

/** Share of a sentence's meaning that must be close together to count as said. */
const ENOUGH = 0.65
/** Share of a text of many sentences that must have been said. */
const MOST = 0.8
/** Number of sentences that count as close together. A fact of a few words must be in one. */
const NEAR = 3
export const SHORT_TEXT_WORDS = 3

/** Additional conditions of a comparison. */
interface MatchRules {
  /** Numbers, files and addresses must be the same. */
  firm?: boolean
  /** Denied parts must be denied in the text too, and others must not. */
  denied?: boolean
  /**
   * Meanings of similar facts, so that a text about one does not count for another.
   * A text with only shared words and another fact's words said that other fact.
   */
  others?: () => Iterable<ReadonlySet<string>>
}

/** Returns a check whether a text says what a sentence means, or most of several sentences. */
export function prepareMeaning(text: string): (part: string, strict?: MatchRules) => boolean {
  const sentences = splitSentences(text)
  const meanings = sentences.map(meaningWords)
  const places = new Map<string, number[]>()
  for (const [i, words] of meanings.entries()) {
    for (const word of words) {
      const at = places.get(word)
      if (at) at.push(i)
      else places.set(word, [i])
    }
  }
  const known = new Map<number, Clause[]>()
  const clausesAt = (i: number): Clause[] => {
    const clauses = known.get(i) ?? clausesOf(sentences[i]!)
    known.set(i, clauses)
    return clauses
  }
  const count = (word: string): number => places.get(word)?.length ?? 0

  const saidNear = (part: string, words: ReadonlySet<string>, strict: MatchRules): boolean => {
    const near = words.size <= SHORT_TEXT_WORDS ? 1 : NEAR
    const needed = words.size < SHORT_TEXT_WORDS ? words.size : Math.ceil(words.size * ENOUGH)
    const firm = strict.firm ? [...words].filter(isExactWord) : []
    const clauses = strict.denied === true ? splitSentences(part).flatMap(clausesOf) : null
    const holds = (start: number): boolean => {
      const here = meanings.slice(start, start + near)
      const has = (word: string): boolean => here.some((sentence) => sentence.has(word))
      const there = [...words].filter(has)
      if (there.length < needed || !firm.every(has)) return false
      if (strict.others && saysOther(strict.others(), words, has)) return false
      return (
        clauses === null ||
        deniesTheSame(
          clauses,
          here.flatMap((_, i) => clausesAt(start + i)),
        )
      )
    }
    // A match must contain one of the rarest words, so only their places are checked.
    const rarest = [...words].sort((a, b) => count(a) - count(b)).slice(0, words.size - needed + 1)
    const starts = new Set(rarest.flatMap((word) => places.get(word) ?? []).flatMap((at) => startsOf(at, near)))
    return [...starts].some(holds)
  }
  return (part, strict = {}) => {
    const parts = splitSentences(part).map((sentence) => ({ sentence, words: meaningWords(sentence) }))
    const all = parts.reduce((sum, { words }) => sum + words.size, 0)
    // A single word says too little, except in a prohibition such as "no Redis".
    if (all < 2 && !(all === 1 && strict.denied && isNegative(part))) return false
    const said = parts.filter(({ sentence, words }) => words.size > 0 && saidNear(sentence, words, strict))
    const enough = said.reduce((sum, { words }) => sum + words.size, 0) >= all * MOST
    return enough || saidNear(part, meaningWords(part), strict)
  }
}

/** Words that every decision contains, so they do not distinguish one from another. */
const DECISION_WORDS = meaningWords(
  'decided decision decide rather than instead choose chose chosen prefer preferred over pick picked went go going',
)

function saysOther(
  others: Iterable<ReadonlySet<string>>,
  words: ReadonlySet<string>,
  has: (word: string) => boolean,
): boolean {
  const telling = [...words].filter((word) => !DECISION_WORDS.has(word))
  const there = telling.filter(has)
  if (there.length === telling.length) return false
  for (const other of others) {
    const isOnlyOthers = (word: string): boolean => !words.has(word) && !DECISION_WORDS.has(word) && has(word)
    // A paraphrase of the same meaning has no words of its own.
    if (there.every((word) => other.has(word)) && [...other].some(isOnlyOthers)) return true
  }
  return false
}

const startsOf = (at: number, near: number): number[] =>
  Array.from({ length: near }, (_, back) => at - back).filter((start) => start >= 0)

/** Splits a text into sentences; the end of a line ends a sentence. */
export const splitSentences = (text: string): string[] =>
  text.split(/(?<=[.!?;])\s+|(?<=[。！？；])|\n+/).filter((one) => one.trim() !== '')

/** A part of a sentence that says one thing. */
interface Clause {
  words: ReadonlySet<string>
  denied: boolean
}

const DENIAL = "(?:never|not|no|do not|don'?t|nie|niemals|nicht|kein\\p{L}*|nunca|no|jamais|ne|не|никогда)"
/**
 * Separators of clauses: punctuation, words such as "but" or "when", and an "and" before a denial.
 */
const CLAUSE_SEPARATOR = new RegExp(
  '[,;:()–—，、；：（）]\\s*|\\s-+\\s|\\s(?=(?:but|however|when|while|unless|because|instead|aber|wenn|weil|sondern|pero|' +
    `cuando|mais|quand|но|когда)\\s)|\\s(?=(?:and|or|und|oder|y|o|et|ou|и|или)\\s+${DENIAL}(?!\\p{L}))`,
  'iu',
)

/**
 * Splits a sentence into the clauses that mean something.
 * A "never" alone ("Never, ever, …") denies everything behind it; a "no" alone does not.
 */
function clausesOf(sentence: string): Clause[] {
  const found: Clause[] = []
  let all = false
  for (const part of sentence.split(CLAUSE_SEPARATOR)) {
    const words = meaningWords(part)
    const denied = isNegative(part)
    if (words.size > 0) found.push({ words, denied: denied || all })
    else if (denied && !/^(?:no|non|nein|нет|não)[.!]?$/.test(normalizeText(part))) all = true
  }
  return found
}

/**
 * Returns true when `there` denies exactly what `here` denies.
 * A clause is compared with the clauses that share most of its words.
 * A denial without such a clause counts as missing.
 * A clause may say two things: "accounting owns it and it must not be touched".
 */
function deniesTheSame(here: readonly Clause[], there: readonly Clause[]): boolean {
  const denials = new Set(here.filter(({ denied }) => denied).flatMap((clause) => nearestClauses(clause, there)))
  return here.every((clause) => {
    const found = nearestClauses(clause, there)
    if (found.length === 0) return !clause.denied
    return found.some((one) => one.denied === clause.denied || (!clause.denied && denials.has(one)))
  })
}

/** Returns the clauses that share most of its words. Empty when none shares any. */
function nearestClauses({ words }: Clause, there: readonly Clause[]): Clause[] {
  const shared = there.map((clause) => [...words].filter((word) => clause.words.has(word)).length)
  const most = Math.max(0, ...shared)
  return most === 0 ? [] : there.filter((_, i) => shared[i] === most)
}
