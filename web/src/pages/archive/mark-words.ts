/** What is looked for, as the server's search reads it: words, "phrases" and beginnings* of words. */
export interface Term {
  words: string
  prefix: boolean
}

export interface Piece {
  text: string
  found: boolean
}

const PIECES = /"([^"]*)"?(\*?)|([^\s"]+)/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Written without spaces between words: found by any part of what was written. */
const SIGNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

export function termsOf(query: string): Term[] {
  const terms: Term[] = []
  for (const [, phrase, star, word] of query.matchAll(PIECES)) {
    const written = phrase ?? word ?? ''
    const prefix = phrase === undefined ? /[\p{L}\p{N}]\*+$/u.test(written) : star === '*'
    const words = (phrase === undefined ? written.replace(/\*+$/, '') : written).trim()
    if (/[\p{L}\p{N}]/u.test(words)) terms.push({ words, prefix })
  }
  return terms
}

/** The text in pieces, those that match marked. Put together they are the text. */
export function markWords(text: string, terms: readonly Term[]): Piece[] {
  const pattern = patternOf(terms)
  if (pattern === null) return [{ text, found: false }]
  const pieces: Piece[] = []
  let at = 0
  for (const match of folded(text).matchAll(pattern)) {
    if (match[0] === '') continue
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), found: false })
    at = match.index + match[0].length
    pieces.push({ text: text.slice(match.index, at), found: true })
  }
  if (at < text.length) pieces.push({ text: text.slice(at), found: false })
  return pieces
}

function patternOf(terms: readonly Term[]): RegExp | null {
  const sources = terms.flatMap(({ words, prefix }) => {
    const parts = folded(words).match(WORD) ?? []
    if (parts.length === 0) return []
    const source = parts.join('[^\\p{L}\\p{N}]{1,20}')
    if (SIGNS.test(words)) return [source]
    return [`(?<![\\p{L}\\p{N}])${source}${prefix ? '[\\p{L}\\p{N}]*' : '(?![\\p{L}\\p{N}])'}`]
  })
  // The longest first: where two could begin at one place, the whole of it is marked.
  return sources.length === 0 ? null : new RegExp(sources.sort((a, b) => b.length - a.length).join('|'), 'gu')
}

/** Small letters without accents, as long as the text, so that a place in one is a place in the other. */
function folded(text: string): string {
  if (!/[^\u0000-\u007f]/.test(text)) return text.toLowerCase()
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const plain = text[at]!.toLowerCase().normalize('NFD')
    out += plain.length === 1 || /^\p{M}+$/u.test(plain.slice(1)) ? plain[0]! : text[at]!
  }
  return out
}
