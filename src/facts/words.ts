/** Normalizes a text for comparison: lower case, without punctuation marks, single spaces. */
export function normalizeText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[`*_"'“”‘’«»]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

const FILLER_WORDS = new Set(
  (
    'the a an and or of to in on is are be it this that with for as at by from you we i please will can do not no ' +
    'but so if then all any der die das und oder ist sind nicht ein eine zu mit für el la los las de y o que en es ' +
    'un una le les des et ou est du dans pour use used using here there always just also now since because need ill ' +
    'lets bitte immer never dont doesnt mustnt cant cannot nie niemals kein keine nunca jamais pas ne не никогда без'
  ).split(' '),
)

/** Scripts without spaces between words, or with particles attached to them. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
export const isUnspaced = (text: string): boolean => UNSPACED.test(text)

/** Returns the words that carry meaning. Text without spaces is split into pairs of characters. */
export function meaningWords(text: string): Set<string> {
  const words = new Set<string>()
  const unnumbered = text.replace(/^[ \t]*\d+[.)]\s/gm, '')
  for (const [run] of normalizeText(unnumbered).matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}./:@#-]*/gu)) {
    if (isUnspaced(run)) {
      const signs = [...run]
      for (let i = 0; i + 1 < signs.length; i++) words.add(signs[i]! + signs[i + 1]!)
      if (signs.length === 1) words.add(run)
      continue
    }
    const word = trimTrailing(run, './:@#-')
    for (const part of /^[\p{L}\p{M}-]+$/u.test(word) ? word.split('-') : [word]) {
      if ((part.length > 1 || /\p{N}/u.test(part)) && !FILLER_WORDS.has(part)) words.add(stem(part))
    }
  }
  return words
}

/** Removes trailing signs. Written as a loop, because a pattern would backtrack at each of many. */
export function trimTrailing(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** Returns true for numbers, files and addresses: another one changes the meaning of a sentence. */
export function isExactWord(word: string): boolean {
  return /\p{N}|\.\p{L}{1,5}$|@/u.test(word) && !/^\p{L}\.\p{L}$/u.test(word)
}

/** Returns a rough stem, so that "tests" equals "testing". Paths and names stay whole. */
function stem(word: string): string {
  if (/[^\p{L}\p{M}]/u.test(word)) return word
  if (/\p{sc=Cyrillic}|\p{sc=Greek}/u.test(word)) return word.length < 6 ? word : word.slice(0, -2)
  return word
    .replace(/(?<=..)(ings?|ed|er[ns]?|i?es|s|en|em|e)$/, '')
    .replace(/(?<=..)y$/, '')
    .replace(/(.)\1$/, '$1')
}

const DENIALS = new RegExp(
  String.raw`(?<![\p{L}])(no|not|never|none|without|avoid\p{L}*|(?:do|does|did|is|are|was|were|ca|could|must|` +
    String.raw`should|would|wo|has|have|had)nt|cannot|forbid\p{L}*|prohibit\p{L}*|exclud\p{L}*|untouched|` +
    String.raw`unchanged|nothing|nobody|nichts?|nie|niemals|kein\p{L}*|ohne|verboten|nunca|jamás|nada|sin|ni|pas|` +
    String.raw`jamais|rien|sans|aucun\p{L}*|não|nem|sem|non|mai|senza|не|ничего|нельзя|никогда|без|ни)(?![\p{L}])|` +
    '[不别別勿莫禁没沒無无]|ない|ません|禁止|않|말[아고]|없|못',
  'u',
)

/** Returns true when something in the text is denied or forbidden. */
export const isNegative = (text: string): boolean => DENIALS.test(normalizeText(text))
