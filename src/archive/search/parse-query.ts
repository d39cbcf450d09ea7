export interface SearchTerm {
  /** Text as typed, without quotes and star. */
  words: string
  prefix: boolean
}

const PIECES = /"([^"]*)"?(\*?)|([^\s"]+)/g
/**
 * Letters and digits, except a few that the index treats as
 * separators. A separator that is searched alone never matches.
 */
const HAS_WORD = /(?![\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3])[\p{L}\p{N}\p{Co}]/u

/**
 * Parses words, "phrases" and prefixes*. Everything else is literal, never an operator.
 * Empty when there is nothing to search for.
 */
export function parseQuery(query: string): SearchTerm[] {
  const terms: SearchTerm[] = []
  for (const [, phrase, star, word] of query.replaceAll('\0', ' ').matchAll(PIECES)) {
    const written = phrase ?? word ?? ''
    const prefix = phrase === undefined ? /[\p{L}\p{N}]\*+$/u.test(written) : star === '*'
    const words = (phrase === undefined ? written.replace(/\*+$/, '') : written).trim()
    if (HAS_WORD.test(words)) terms.push({ words, prefix })
  }
  return terms
}

/** Returns a term in the query syntax of SQLite's full-text search. */
export function toMatchExpression({ words, prefix }: SearchTerm): string {
  return `"${foldText(words).replaceAll('"', ' ')}"${prefix ? '*' : ''}`
}

const BEYOND_LATIN = /[^\u0000-\u02ff]/
/**
 * Scripts without spaces between words, or with suffixes attached to them.
 * Every character is indexed as a word, so a word becomes a phrase of characters.
 */
const SIGNS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu

/** Normalizes a text for the index; queries are normalized in the same way. */
export function foldText(written: string): string {
  // SQLite treats NUL as the end of the text.
  const text = written.replaceAll('\0', ' ')
  if (!BEYOND_LATIN.test(text)) return text
  return text.normalize('NFC').replace(SIGNS, ' $& ')
}
