export interface Term {
  /** As typed, without quotes and star. */
  words: string
  prefix: boolean
}

const PIECES = /"([^"]*)"?(\*?)|([^\s"]+)/g
/** Letters but for a few the index takes for marks between words: asked for by themselves, they would be found nowhere. */
const HAS_WORD = /(?![\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3])[\p{L}\p{N}\p{Co}]/u

/** Words, "phrases" and beginnings* of words; everything else is taken for what it is, never for an operator. [] : nothing to look for. */
export function parseQuery(query: string): Term[] {
  const terms: Term[] = []
  for (const [, phrase, star, word] of query.replaceAll('\0', ' ').matchAll(PIECES)) {
    const written = phrase ?? word ?? ''
    const prefix = phrase === undefined ? /[\p{L}\p{N}]\*+$/u.test(written) : star === '*'
    const words = (phrase === undefined ? written.replace(/\*+$/, '') : written).trim()
    if (HAS_WORD.test(words)) terms.push({ words, prefix })
  }
  return terms
}

/** A term as the index is asked for it. */
export function matchOf({ words, prefix }: Term): string {
  return `"${foldText(words).replaceAll('"', ' ')}"${prefix ? '*' : ''}`
}

const BEYOND_LATIN = /[^\u0000-\u02ff]/
/** Written without spaces between words, or with endings grown onto them: each sign is a word of its own, and a word is a phrase of signs. */
const SIGNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu

/** A text as the index takes it; a query goes through the same. */
export function foldText(written: string): string {
  // SQLite takes it for the end of the text.
  const text = written.replaceAll('\0', ' ')
  if (!BEYOND_LATIN.test(text)) return text
  return text.normalize('NFC').replace(SIGNS, ' $& ')
}
