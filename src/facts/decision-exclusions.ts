/** Prompts that only let the work go on. */
const CONTINUES = new RegExp(
  "^(?:(?:ok|okay|yes|cool|great),? )?let'?s (?:keep going|continue|start|begin|brainstorm|go on|" +
    String.raw`move on)\b.{0,20}$|\blet'?s (?:brainstorm|discuss|explore)[.!]?$`,
  'i',
)
/** Lines that mean nothing without the list below them: "okay, let's do this:". */
const INTRODUCES = new RegExp(
  "^(?:(?:ok(?:ay)?|so|and|then|yes),? )?(?:let'?s do|i(?:'d| would) like|i want|here(?:'s| is)|" +
    String.raw`we need|i need)\b.{0,24}:$|^i(?:'d| would) prefer that$`,
  'i',
)

/** Returns true for a sentence of the user that looks like a choice and names nothing to choose. */
export const saysNothing = (sentence: string): boolean => CONTINUES.test(sentence) || INTRODUCES.test(sentence)

/** Returns true when the user asks whether he understood: "this makes a new copy, yes?" */
export const asksToConfirm = (question: string): boolean => /, (?:yes|yeah|right|correct|no|hey)\?$/i.test(question)

/** Returns true for a link and nothing else. */
export const isLink = (sentence: string): boolean => /^\W{0,4}\[[^\]]+\]\(\S+\)\W{0,4}$/.test(sentence)

const HEDGED = new RegExp(
  String.raw`^(?!.*\bi(?:'d| would) (?:recommend|suggest|lean)\b).*\bwould be\b|` +
    String.raw`\bprobably\b(?! (?:the )?(?:most|best|simplest|cleanest|quickest|safest)\b)|` +
    String.raw`^if\b(?!.*\bso we(?:'re|'ll)\b)|^now (?:let|i)\b|` +
    String.raw`^(?:let me|i'll|i will) (?:check|look|see|verify|investigate)\b|` +
    String.raw`^(?:(?:now|so|ok|okay),? )?let'?s\b(?!.*\b(?:instead|rather|because)\b)|\blater[.!]?$|` +
    String.raw`\bfix is (?:straightforward|simple|easy|clear|working|complete|done|in place)\b`,
  'i',
)

/** Returns true for a proposal or a step of the work, which the agent did not choose. */
export const isHedged = (sentence: string): boolean => HEDGED.test(sentence)

const WAYS = 'options?|alternatives?|approaches|choices|possibilities|ideas|ways'
const OFFERING = `${WAYS}|want(?: me)? to|would you (?:like|prefer)(?: me to)?|should (?:we|i)|either|are you thinking`
/** A line that introduces ways to choose from. */
const OFFERS = new RegExp(String.raw`^\W{0,12}(?:\S{1,40} ){0,6}(?:${OFFERING})\b[^.!?]{0,80}[:?][*_]{0,2}\s*$`, 'i')
/** Quick filter: a text that offers ways has such a line end. */
const MAY_OFFER = new RegExp(String.raw`\b(?:${OFFERING})\b[^.!?\n]{0,80}[:?][*_]{0,2}[ \t\r]*\n`, 'i')
const LISTED = /^\s*(?:[-*•–]|\d+[.)]|\*\*[a-e\d][).:]|[a-e]\))\s*\S/i
/** Longest line that introduces a list. */
const LONGEST_INTRODUCTION = 300

/**
 * Removes the lists of ways that an agent offers: the user has yet to choose one of them.
 * Advice after such a list stays.
 */
export function withoutOffers(text: string): string {
  if (!MAY_OFFER.test(text)) return text
  let isOffering = false
  const kept = text.split('\n').filter((line) => {
    if (line.length <= LONGEST_INTRODUCTION && OFFERS.test(line)) isOffering = true
    else if (isOffering && LISTED.test(line)) return false
    else if (line.trim() !== '' && !/^\s{2,}/.test(line)) isOffering = false
    return true
  })
  return kept.join('\n')
}
