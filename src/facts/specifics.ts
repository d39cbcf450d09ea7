/**
 * Specific words: identifiers, paths, figures, addresses and quoted names.
 * A fresh session cannot guess specific words.
 * A sentence without any specific word is seldom worth its space in a brief.
 */

/** Matches one specific word or quoted name. Each alternative is bounded. */
const SPECIFIC = new RegExp(
  [
    // Code between backquotes, and short quotations.
    '`[^`\\n]{2,120}`',
    '"[^"\\n]{3,60}"',
    '“[^”\\n]{3,60}”',
    '「[^」\\n]{2,60}」',
    // Addresses, paths and file names.
    'https?://[^\\s)>\\]"`]{4,200}',
    '[\\w@~.-]{0,60}/[\\w@./~-]{2,150}',
    '\\b[\\w-]{1,60}\\.[a-zA-Z]\\w{0,10}\\b',
    // Identifiers: camelCase, snake_case, calls, options, kinds of constants.
    '\\b[a-z][a-z0-9]{1,40}[A-Z]\\w{0,60}\\b',
    '\\b[A-Z][a-z0-9]{1,40}[A-Z]\\w{0,60}\\b',
    '\\b\\w{1,40}_\\w{1,60}\\b',
    '\\b(?=[a-zA-Z-]{0,40}\\d)[a-zA-Z]\\w{0,30}(?:-\\w{1,30}){1,5}\\b',
    '(?<![\\w-])--?[a-zA-Z][\\w-]{1,40}',
    '\\b[A-Z][A-Z0-9]{1,20}(?:-\\d{1,6})?\\b',
    // Issue numbers, figures with units, versions and commit hashes.
    '#\\d{1,7}\\b',
    '\\bv?\\d{1,6}(?:[.,:]\\d{1,6}){0,4}(?: ?(?:ms|s|min|kB|KB|MB|GB|k|M)\\b|%|\\b)',
    '\\b(?=[0-9a-f]{0,39}\\d)[0-9a-f]{7,40}\\b',
  ].join('|'),
  'g',
)

/** Words that match as identifiers but name nothing of the work. */
const COMMON = new Set(
  'ok i.e e.g etc todo api ui id url cli json yaml html css http https sql pr prs ci ide db os tl dr'.split(' '),
)

/** Returns the distinct specific words of a text, in lower case and without their marks. */
export function specificsOf(text: string): Set<string> {
  const found = new Set<string>()
  for (const [match] of text.matchAll(SPECIFIC)) {
    const word = match.replace(/^[`"“「]|[`"”」.,:;]$/g, '').toLowerCase()
    if (word.length > 1 && !COMMON.has(word)) found.add(word)
  }
  return found
}
