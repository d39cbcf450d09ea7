import type { Term } from './parse-query.js'

const AROUND = 80

/** The words around the first place where one of the terms stands, on one line. */
export function snippetOf(text: string, terms: readonly Term[], around = AROUND): string {
  const at = Math.max(0, placeOf(text, terms))
  const from = startOfWord(text, Math.max(0, at - around))
  const to = Math.min(text.length, at + 2 * around)
  const inner = text.slice(from, to).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${inner}${to < text.length ? '…' : ''}`
}

/** -1: none of them was found as written. */
export function placeOf(text: string, terms: readonly Term[]): number {
  const folded = fold(text)
  const places = terms.flatMap(({ words }) => {
    const first = /[\p{L}\p{N}\p{M}\p{Co}]+/u.exec(fold(words))?.[0]
    const whole = folded.indexOf(fold(words))
    const at = whole >= 0 ? whole : first === undefined ? -1 : folded.indexOf(first)
    return at < 0 ? [] : [at]
  })
  return places.length === 0 ? -1 : Math.min(...places)
}

/** Small letters without accents; as long as the text, so that a place in one is a place in the other. */
function fold(text: string): string {
  const small = text.toLowerCase()
  if (small.length === text.length && !/[^\u0000-\u007f]/.test(small)) return small
  let folded = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    const plain = character.toLowerCase().normalize('NFD')
    folded += plain.length === 1 || /^\p{M}+$/u.test(plain.slice(1)) ? plain[0]! : character
  }
  return folded
}

function startOfWord(text: string, from: number): number {
  if (from === 0 || /\s/.test(text[from - 1]!)) return from
  const space = text.slice(from, from + 20).search(/\s/)
  if (space >= 0) return from + space + 1
  // Not between the two halves of one sign.
  return /[\udc00-\udfff]/.test(text[from]!) ? from + 1 : from
}
