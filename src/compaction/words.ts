/** Text as it is compared: lower case, without marks of writing, spaces as one. */
export function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[`*_"'“”‘’«»]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

const LITTLE = new Set(
  'the a an and or of to in on is are be it this that with for as at by from you we i please will can do not no but so if then all any der die das und oder ist sind nicht ein eine zu mit für el la los las de y o que en es un una le les des et ou est du dans pour'.split(
    ' ',
  ),
)

/** The words that carry a meaning. Writing without spaces is taken two characters at a time. */
export function meaningOf(text: string): Set<string> {
  const words = new Set<string>()
  for (const [run] of plain(text).matchAll(/[\p{L}\p{N}][\p{L}\p{N}./:@#-]*/gu)) {
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(run)) {
      const signs = [...run]
      for (let i = 0; i + 1 < signs.length; i++) words.add(signs[i]! + signs[i + 1]!)
      if (signs.length === 1) words.add(run)
      continue
    }
    const word = run.replace(/[./:@#-]+$/, '')
    if (word.length > 1 && !LITTLE.has(word)) words.add(stem(word))
  }
  return words
}

/** Close enough to call "tests" and "testing" the same; paths and names with dots or digits stay whole. */
function stem(word: string): string {
  if (/[^\p{L}]/u.test(word) || word.length < 5) return word
  return word.replace(/(ings?|ed|es|s|en|er|em)$/, '').replace(/(.)\1$/, '$1')
}
