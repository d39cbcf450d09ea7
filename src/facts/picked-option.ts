/** An option of an offer that a prompt picks by its letter or number. */
export interface PickedOption {
  /** The user's words, one sentence. */
  said: string
  /** The agent's words for the option. */
  option: string
}

/** Length up to which a prompt may pick an option. A longer prompt states the wish itself. */
const LONGEST_PICK = 300
const LONGEST_SAID = 160
const LONGEST_OPTION = 200
/** Characters of a line that are searched for a label. */
const LONGEST_LINE = 500

/** Forms in which prompts name an option. The group is its letter or number. */
const PICKS = [
  /^(?:option |variant |#)?([A-Ea-e]|[1-9])[).:!]*$/,
  /^([A-E])[).](?=\s+\S)/,
  new RegExp(
    "^(?:(?:[Yy]es|[Oo]k|[Oo]kay|[Yy]eah|[Hh]mm|[Gg]ood|[Ss]ure)[,. ]+)*(?:[Ll]et'?s (?:go with|do|take|use)|" +
      "[Gg]o (?:with|for)|I think|I'd (?:say|go with|take)|[Uu]se|[Tt]ake|[Pp]ick|[Cc]hoose) " +
      String.raw`(?:option |variant )?([A-E]|[1-9])(?![\w.]\w)\b`,
  ),
  /(?:^|[,.] |\bbut )(?:option )?([A-E]|[1-9]) (?:seems|sounds|looks|is (?:fine|good|better)|works|please)\b/,
  /\b([A-E]) (?:seems|sounds|looks) /,
  /^([A-E]|[1-9])(?:に(?:し|決)|で(?:お願い|いい|良い|行|いこ|進)|が(?:いい|良い)|案で)/,
]

/** Returns the option of `offer` that a prompt picks. Null when it picks none. */
export function pickedOption(prompt: string, offer: string): PickedOption | null {
  const text = prompt.trim().replace(/[’‘]/g, "'")
  if (text.length > LONGEST_PICK) return null
  for (const line of text.split('\n')) {
    for (const form of PICKS) {
      const key = form.exec(line.trim())?.[1]
      if (key === undefined) continue
      const option = optionOf(offer, key.toUpperCase())
      return option === null ? null : { said: line.trim().slice(0, LONGEST_SAID), option }
    }
  }
  return null
}

/** Returns the words of the option with this letter or number. The last one counts. */
function optionOf(offer: string, key: string): string | null {
  const label = new RegExp(
    String.raw`^[\s|>*•#-]*(?:(?:Option|Approach|Variant|Plan) )?\**${key}\**(?:[.):：、]|(?= \|))[*\s|:]*(\S.*)$`,
    'i',
  )
  const found = offer.split('\n').flatMap((line) => label.exec(line.slice(0, LONGEST_LINE))?.[1] ?? [])
  const words = found
    .at(-1)
    ?.replace(/\*\*/g, '')
    .replace(/\s*\|\s*/g, ' – ')
    .replace(/[\s–:]+$/, '')
    .trim()
  return words === undefined || words.length < 3 || /[?？]$/.test(words) ? null : words.slice(0, LONGEST_OPTION)
}
