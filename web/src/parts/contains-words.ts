/** True when `text`, which is in lower case, contains every word of `words`. */
export function containsWords(text: string, words: string): boolean {
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
