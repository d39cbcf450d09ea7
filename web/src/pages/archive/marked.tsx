import { useMemo } from 'react'
import { markWords, type Term } from './mark-words.js'

/** A text with what was looked for marked in it. Text nodes only. */
export function Marked({ text, terms }: { text: string; terms: readonly Term[] }) {
  const pieces = useMemo(() => markWords(text, terms), [text, terms])
  return pieces.map((piece, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and keep nothing
    piece.found ? <mark key={place}>{piece.text}</mark> : piece.text,
  )
}
