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
 * A denial that has no such clause is not there.
 */
export function agrees(here: readonly Clause[], there: readonly Clause[]): boolean {
  return here.every(({ words, denied }) => {
    const shared = there.map((clause) => [...words].filter((word) => clause.words.has(word)).length)
    const most = shared.reduce((best, one) => Math.max(best, one), 0)
    if (most === 0) return !denied
    return there.some((clause, i) => shared[i] === most && clause.denied === denied)
  })
}
