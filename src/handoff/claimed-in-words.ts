import { type NamedPath, takePaths } from './paths-at.js'

const BULLET = /^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s*)*/
const SPEAKER = /^(?:(?:I|we)\s+(?:have\s+)?)?(?:(?:also|then|now)\s+)?/i
/** Its object is the file: `Edited src/a.ts to sort`, `Created the file notes.md`. */
const ACTIVE =
  /^(changed|created|edited|modified|updated|rewrote|rewritten|wrote|written|added|deleted|removed)\s+(?:(?:a|the|two|three|both)\s+)?(?:new\s+)?(?:files?:?\s+)?/i
/** `src/a.ts was rewritten`, `src/a.ts (new)`. */
const PASSIVE =
  /^\s*(?:(?:was|were|is now|are now|has been|have been)\s+(changed|created|edited|modified|updated|rewritten|written|added|deleted|removed)\b|\((?:changed|created|edited|modified|new|added|deleted|removed|rewritten)\))/i
/** `Added src/a.ts to the build`, `src/a.ts was removed from the list`: the file is somewhere, not written. */
const PLACED = /^(?:added|removed|wrote|written)$/i
const SOMEWHERE = /^\s*(?:to|from|in|into|on|under|at)\b/i
const BY_OTHERS = /^\s*by\b/i
/** Said of a file that was not changed, or not yet, or by nobody knows whom. */
const DOUBTFUL =
  /\b(?:unchanged|untouched|not|never|no longer|planned|to be|todo|next|still|will|should|must|needs?|pending|if|when|once|unless|until|before|would|could|may|might|user|someone|somebody|upstream|earlier|previous\w*|tried|attempt\w*|revert\w*|undid|undone|nicht|noch)\b|n't\b|\?/i
/** Names of products and hosts look like files. */
const NAMES_A_THING = /\.(?:js|io|net|ai|com|org|dev|app)$/i

/** Files that a sentence plainly says were changed. In doubt none: a mention is no claim. */
export function claimedInWords(text: string): string[] {
  const claimed: string[] = []
  let fenced = false
  for (const line of text.split('\n').slice(1)) {
    if (/^\s{0,3}(?:`{3}|~{3})/.test(line)) fenced = !fenced
    if (fenced || line.length > 2_000 || /^\s*[>#|]/.test(line)) continue
    for (const sentence of line.replace(BULLET, '').split(/(?<=[.;!?])\s+/)) claimed.push(...claimedBy(sentence))
  }
  return claimed
}

function claimedBy(sentence: string): string[] {
  if (DOUBTFUL.test(sentence.replace(/`[^`]*`/g, ''))) return []
  const said = sentence.replace(SPEAKER, '')
  const verb = ACTIVE.exec(said)
  const { named, rest } = takePaths(verb ? said.slice(verb[0].length) : said)
  if (verb) return PLACED.test(verb[1]!) && SOMEWHERE.test(rest) ? [] : meant(named)
  const passive = PASSIVE.exec(rest)
  if (!passive) return []
  const behind = rest.slice(passive[0].length)
  const elsewhere = passive[1] !== undefined && PLACED.test(passive[1]) && SOMEWHERE.test(behind)
  return elsewhere || BY_OTHERS.test(behind) ? [] : meant(named)
}

function meant(named: readonly NamedPath[]): string[] {
  return named.filter(({ path, quoted }) => quoted || path.includes('/') || !NAMES_A_THING.test(path)).map(({ path }) => path)
}
