import { denies, isFirm, meaningOf, plain } from './words.js'

/** How much of a sentence's meaning must stand close together to count as said. */
const ENOUGH = 0.65
/** How much of a text of many sentences must have been said. */
const MOST = 0.8
/** Sentences that count as close together. A thought of a few words has its place in one. */
const NEAR = 3
export const FEW_WORDS = 3

interface Strict {
  /** Figures, files and addresses must be the same ones. */
  firm?: boolean
  /** What is denied must be denied there, and what is not must not. */
  denied?: boolean
  /** Meanings it could be taken for. Where only what it shares with one of them stands, beside words of that one alone, that one is said. */
  others?: () => Iterable<ReadonlySet<string>>
}

/** Whether a text says what a sentence, or most of several, means. */
export function makeMeaning(text: string): (part: string, strict?: Strict) => boolean {
  const sentences = sentencesOf(text)
  const meanings = sentences.map(meaningOf)
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

  const saidNear = (part: string, words: ReadonlySet<string>, strict: Strict): boolean => {
    const near = words.size <= FEW_WORDS ? 1 : NEAR
    const needed = words.size < FEW_WORDS ? words.size : Math.ceil(words.size * ENOUGH)
    const firm = strict.firm ? [...words].filter(isFirm) : []
    const clauses = strict.denied === true ? sentencesOf(part).flatMap(clausesOf) : null
    const holds = (start: number): boolean => {
      const here = meanings.slice(start, start + near)
      const has = (word: string): boolean => here.some((sentence) => sentence.has(word))
      const there = [...words].filter(has)
      if (there.length < needed || !firm.every(has)) return false
      if (strict.others && saysOther(strict.others(), words, has)) return false
      return (
        clauses === null ||
        agrees(
          clauses,
          here.flatMap((_, i) => clausesAt(start + i)),
        )
      )
    }
    // Where none of the rarest stands, too few of all can.
    const rarest = [...words].sort((a, b) => count(a) - count(b)).slice(0, words.size - needed + 1)
    const starts = new Set(rarest.flatMap((word) => places.get(word) ?? []).flatMap((at) => startsOf(at, near)))
    return [...starts].some(holds)
  }
  return (part, strict = {}) => {
    const parts = sentencesOf(part).map((sentence) => ({ sentence, words: meaningOf(sentence) }))
    const all = parts.reduce((sum, { words }) => sum + words.size, 0)
    // One word alone says little, but for "no Redis".
    if (all < 2 && !(all === 1 && strict.denied && denies(part))) return false
    const said = parts.filter(({ sentence, words }) => words.size > 0 && saidNear(sentence, words, strict))
    const enough = said.reduce((sum, { words }) => sum + words.size, 0) >= all * MOST
    return enough || saidNear(part, meaningOf(part), strict)
  }
}

/** Every decision is told with these: they do not tell one from another. */
const TOLD_WITH = meaningOf(
  'decided decision decide rather than instead choose chose chosen prefer preferred over pick picked went go going',
)

function saysOther(
  others: Iterable<ReadonlySet<string>>,
  words: ReadonlySet<string>,
  has: (word: string) => boolean,
): boolean {
  const telling = [...words].filter((word) => !TOLD_WITH.has(word))
  const there = telling.filter(has)
  if (there.length === telling.length) return false
  for (const other of others) {
    const isOnlyOthers = (word: string): boolean => !words.has(word) && !TOLD_WITH.has(word) && has(word)
    // The same meaning in other words has none that only it has.
    if (there.every((word) => other.has(word)) && [...other].some(isOnlyOthers)) return true
  }
  return false
}

const startsOf = (at: number, near: number): number[] =>
  Array.from({ length: near }, (_, back) => at - back).filter((start) => start >= 0)

const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?;])\s+|(?<=[。！？；])|\n+/).filter((one) => one.trim() !== '')

/** A part of a sentence that says one thing. */
interface Clause {
  words: ReadonlySet<string>
  denied: boolean
}

const DENIAL = "(?:never|not|no|do not|don'?t|nie|niemals|nicht|kein\\p{L}*|nunca|no|jamais|ne|не|никогда)"
/** Where another thing begins: at marks, at words that turn or condition it, and at an "and" that begins to deny. */
const BETWEEN = new RegExp(
  `[,;:()–—，、；：（）]\\s*|\\s-+\\s|\\s(?=(?:but|however|when|while|unless|because|instead|aber|wenn|weil|sondern|pero|cuando|mais|quand|но|когда)\\s)|\\s(?=(?:and|or|und|oder|y|o|et|ou|и|или)\\s+${DENIAL}(?!\\p{L}))`,
  'iu',
)

/** The clauses of a sentence that mean something. A "never" that stands alone ("Never, ever, …") denies all behind it; a "no" does not. */
function clausesOf(sentence: string): Clause[] {
  const found: Clause[] = []
  let all = false
  for (const part of sentence.split(BETWEEN)) {
    const words = meaningOf(part)
    const denied = denies(part)
    if (words.size > 0) found.push({ words, denied: denied || all })
    else if (denied && !/^(?:no|non|nein|нет|não)[.!]?$/.test(plain(part))) all = true
  }
  return found
}

/**
 * Whether `there` denies what `here` denies, and nothing else of it: each clause is held against those that share most of its words.
 * A denial that has no such clause is not there. One clause may say both: "accounting owns it and it must not be touched".
 */
function agrees(here: readonly Clause[], there: readonly Clause[]): boolean {
  const denials = new Set(here.filter(({ denied }) => denied).flatMap((clause) => nearest(clause, there)))
  return here.every((clause) => {
    const found = nearest(clause, there)
    if (found.length === 0) return !clause.denied
    return found.some((one) => one.denied === clause.denied || (!clause.denied && denials.has(one)))
  })
}

/** Those that share most of its words; none shares any: []. */
function nearest({ words }: Clause, there: readonly Clause[]): Clause[] {
  const shared = there.map((clause) => [...words].filter((word) => clause.words.has(word)).length)
  const most = Math.max(0, ...shared)
  return most === 0 ? [] : there.filter((_, i) => shared[i] === most)
}
