import { languageOf } from './language.js'

/** Beginning of a prompt with which a client passes an approved plan to a fresh session. */
const PLAN_GIVEN =
  /^\s*(?:please )?(?:implement|execute|carry out|review|follow) the following (?:plan|proposal|design)\b[^\n]*\n/i

/** Returns the title of the plan that a prompt consists of. Null for any other prompt. */
export function givenPlan(prompt: string): string | null {
  const begin = PLAN_GIVEN.exec(prompt)
  if (begin === null) return null
  const title = prompt
    .slice(begin[0].length)
    .split('\n')
    .find((line) => line.trim() !== '')
  return title === undefined ? null : title.replace(/^#+\s*/, '').trim()
}

/** Fewest headings that make a prompt a document: a pasted plan, specification or review. */
const DOCUMENT_HEADINGS = 3
const HEADING = /^#{1,4} \S/
const FENCE = /^\s*(?:```|~~~)/
/** Headings under which users write rules, also in a prompt with many headings. */
const RULES_HEADING = new RegExp(
  String.raw`^#{1,4} .*\b(?:rules?|constraints?|requirements?|don'?ts?|musts?|guidelines?|limits?|scope|` +
    String.raw`non-goals?|important|notes?)\b`,
  'i',
)

/** Beginning of a prompt that passes on another text: "can you check this comment: …" */
const SOURCE_INTRODUCED = new RegExp(
  String.raw`^[^\n:]{0,100}\b(?:check|address|review|look at|look into|fix|handle|reply to|respond to|evaluate|` +
    String.raw`investigate|ignore|got|see|about|comments?|feedback|error|says?|said)\b[^\n:.]{0,60}:\s+`,
  'i',
)
/** Fewest characters of a text that somebody else wrote. */
const SHORTEST_SOURCE = 120

/** Longest prompt without any address that can be an order and no passed-on text. */
const LONGEST_IMPERSONAL_ORDER = 200

/** Longest prompt whose question or `@file` shows that the user wrote it to the agent. */
const LONGEST_ADDRESSED = 600
const isAddressed = (prompt: string): boolean =>
  prompt.length <= LONGEST_ADDRESSED && (/[?？](?:\s|$)/.test(prompt) || /^\s*@\S/.test(prompt))

/** True for a long text in which nobody speaks to anybody. */
const isImpersonal = (text: string): boolean =>
  text.length >= SHORTEST_SOURCE &&
  !/\b(?:i|we|you|my|our|please|let's|lets|don't|do not|must|never|always)\b/i.test(text) &&
  languageOf(text) === 'en'

/**
 * Returns the part of a prompt that the user wrote as an instruction.
 * A pasted document is a source and states no rules of the user.
 * Of a plan only the line that hands it over counts.
 * Of another document, the text before its first heading and under headings for rules counts.
 */
export function ownProse(prompt: string): string {
  const introduced = SOURCE_INTRODUCED.exec(prompt)
  if (introduced !== null && isImpersonal(prompt.slice(introduced[0].length))) return introduced[0]
  const isDocument = prompt.length >= LONGEST_IMPERSONAL_ORDER && !isAddressed(prompt) && isImpersonal(prompt)
  if (isDocument) return ''
  if (!prompt.includes('#')) return prompt
  const lines = prompt.split('\n')
  if (givenPlan(prompt) !== null) return lines.find((line) => line.trim() !== '') ?? ''
  let isFenced = false
  let headings = 0
  let isOwn = true
  const own: string[] = []
  for (const line of lines) {
    if (FENCE.test(line)) isFenced = !isFenced
    else if (!isFenced && HEADING.test(line)) {
      headings++
      isOwn = RULES_HEADING.test(line)
    }
    if (isOwn) own.push(line)
  }
  return headings >= DOCUMENT_HEADINGS ? own.join('\n') : prompt
}
