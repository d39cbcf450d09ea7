import { foldText, type SearchTerm } from './parse-query.js'

/** A part of a query that is searched alone, with its share of the rank. */
export interface QueryWord {
  /** The word as written, and its stem, in the query syntax of SQLite's full-text search. */
  match: string
  /**
   * Every word with this stem, in the same syntax. Null when only the word itself counts.
   * Costly for a stem of many words, so it is asked only when `match` is rare.
   */
  forms: string | null
  /** Beginning of the word in a folded text, to find the places in an entry. */
  stem: string
  /** True when only the beginning of the word has to match. */
  prefix: boolean
  /** Factor of its rarity: below 1 for fragments of a word. */
  weight: number
}

/**
 * Words that carry no subject, by language.
 * Questions contain these words, but the answers to them do not.
 */
const STOP_WORDS: Record<string, string> = {
  en:
    'a about after again all also am an and any are as asked at be because been before being besides between both ' +
    'but by can could decide decided did do does doing done during each else ever exactly for from gave get gets ' +
    'give given go goes got had has have having he her here him his how i if in instead into is it its just kind ' +
    'last let lets made make makes many may me mean meant might more most much must my nevertheless new newest no ' +
    'nor not now of off on once one only or other others our out over own per please put said same say says shall ' +
    'she should show showed shown since so some still such take taken than that the their them then there these ' +
    'they thing things this those through to too tell told under until up us use used user users uses using very ' +
    'want wanted wants was way we went were what when where whether which while who whom whose why will with ' +
    'within without would yet you your agent session successor',
  de:
    'aber alle als am an auch auf aus bei bin bis bist da damit das dass dem den der des die dies diese dieser doch ' +
    'du durch ein eine einem einen einer eines er es für hat habe haben hatte ich ihr im in ist ja kann kein keine ' +
    'man mein mit muss nach nicht noch nur ob oder ohne schon sein sich sie sind so soll sollte über um und uns ' +
    'unter vom von vor wann war waren warum was welche welchem welchen welcher welches wenn wer werden wie wieder ' +
    'wir wird wo wurde wurden zu zum zur',
  fr:
    'a au aux avec ce ces cette comment dans de des du elle en est et eu il ils je la le les leur lequel laquelle ' +
    'mais ne nous on ont ou où par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi sa se ses ' +
    'son sont sur te tu un une vous y été être',
  es:
    'al como con cual cuál cuáles cuando cuándo de del donde dónde el ella en es esta está este esto fue ha hay la ' +
    'las lo los más no nos o para pero por porque que qué quien quién se ser si sin sobre su sus un una y ya',
}
const STOPPED = new Set(Object.values(STOP_WORDS).flatMap((words) => words.split(' ')))

/** Words of one subject that people and programs write differently. Each group is one subject. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['pr', 'pull', 'pullrequest'],
  ['repo', 'repositor'],
  ['dir', 'director', 'folder'],
  ['config', 'configur', 'setting'],
  ['env', 'environment', 'variable'],
  ['db', 'database'],
  ['dep', 'dependenc'],
  ['bug', 'cause', 'fault'],
  ['error', 'fail', 'exception'],
  ['delet', 'remov'],
  ['renam', 'mv'],
  ['auth', 'login'],
]
const SYNONYM_WEIGHT = 0.5

const BIGRAM_WEIGHT = 0.6
const SHORTEST_STEM = 4
const MOST_WORDS = 24

/** Scripts without spaces between words, or with particles attached to them. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const SIGN = SCRIPTS.map((script) => `\\p{sc=${script}}`).join('')
const RUNS = new RegExp(`[${SIGN}]+|[^${SIGN}]+`, 'gu')
const IS_UNSPACED = new RegExp(`^[${SIGN}]`, 'u')
/** Pairs of Hiragana are endings and particles: nearly every sentence has them. */
const IS_PARTICLE = /^\p{sc=Hiragana}+$/u
const WORD = /[\p{L}\p{M}\p{N}\p{Co}]+/gu

/**
 * Returns the words of a query that carry its subject, for a search by any of them.
 * A quoted phrase stays one word. Other words are cut to their stem.
 * Text without spaces is split into pairs of characters.
 * When a query has only stop words, the stop words are searched.
 */
export function queryWords(terms: readonly SearchTerm[]): QueryWord[] {
  const all = terms.flatMap(wordsOf)
  const subject = all.filter(({ stem }) => !STOPPED.has(stem))
  const words = new Map<string, QueryWord>()
  for (const word of subject.length > 0 ? subject : all) if (!words.has(word.match)) words.set(word.match, word)
  for (const word of [...words.values()])
    for (const other of synonymsOf(word)) if (!words.has(other.match)) words.set(other.match, other)
  return [...words.values()].slice(0, MOST_WORDS)
}

function wordsOf({ words, prefix }: SearchTerm): QueryWord[] {
  if (/\s/.test(words)) return [exact(words, prefix)]
  return (words.match(RUNS) ?? []).flatMap((run) => {
    if (IS_UNSPACED.test(run)) return pairsOf(run)
    const parts = run.match(WORD) ?? []
    // A path or a name with separators is searched whole and by its parts.
    if (parts.length > 1) return [exact(run, prefix), ...parts.filter((part) => part.length > 2).map(stemmed)]
    return parts.map((part) => (prefix ? exact(part, true) : stemmed(part)))
  })
}

const quoted = (text: string): string => `"${foldText(text).replaceAll('"', ' ')}"`

const exact = (text: string, prefix: boolean): QueryWord => ({
  match: quoted(text),
  forms: prefix ? `${quoted(text)}*` : null,
  stem: text.toLowerCase(),
  prefix,
  weight: 1,
})

function stemmed(word: string): QueryWord {
  const small = word.toLowerCase()
  if (STOPPED.has(small) || /[^\p{L}]/u.test(small)) return exact(small, false)
  const stem = small.replace(/(?<=\p{L}{3})(?:ations?|ings?|ions?|ments?|ed|ers?|ies|es|s|e|y)$/u, '')
  if (stem.length < SHORTEST_STEM) return exact(small, false)
  const all = exact(stem, true)
  return stem === small ? all : { ...all, match: `${quoted(small)} OR ${quoted(stem)}` }
}

function pairsOf(run: string): QueryWord[] {
  const signs = [...run]
  const pairs = signs.length === 1 ? [run] : signs.slice(1).map((sign, at) => signs[at]! + sign)
  const telling = pairs.filter((pair) => !IS_PARTICLE.test(pair))
  return (telling.length > 0 ? telling : pairs).map((pair) => ({ ...exact(pair, false), weight: BIGRAM_WEIGHT }))
}

function synonymsOf({ stem, weight }: QueryWord): QueryWord[] {
  const group = SYNONYMS.find((words) =>
    words.some((word) => stem === word || (word.length > 3 && stem.startsWith(word))),
  )
  if (group === undefined) return []
  return group
    .filter((word) => !stem.startsWith(word))
    .map((word) => ({ ...exact(word, word.length >= SHORTEST_STEM), weight: weight * SYNONYM_WEIGHT }))
}
