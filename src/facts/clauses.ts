import { denies, meaningOf, plain } from './words.js'

/** A part of a sentence that says one thing. */
export interface Clause {
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
export function clausesOf(sentence: string): Clause[] {
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
export function agrees(here: readonly Clause[], there: readonly Clause[]): boolean {
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
