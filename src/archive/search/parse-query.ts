import { foldText } from './fold-text.js'

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
