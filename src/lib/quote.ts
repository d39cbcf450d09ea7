/** Escape sequences of terminals: colours, titles, and a beginning without an end. */
const ESCAPES = /\u001b(?:\[[0-?]{0,50}[ -/]{0,5}[@-~]?|\][^\u0007\u001b\n]{0,300}(?:\u0007|\u001b\\)?|[@-Z\\^_])?/g
/** What nobody sees: controls, marks of direction, invisible letters. Line ends and tabs stay. */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu
const OTHER_LINE_ENDS = /[\u2028\u2029]/g
/** Names of what clients put around their own words. */
const OWN_TAG =
  /<(?=\/?\s{0,5}(?:antml:|system|assistant|human|user-|command-|local-command|task-|tool|function|hook|bash-|persisted|new-diagnostics|session-|baton))/gi
const ANY_TAG = /<(?=[/!?]?\s{0,5}[a-z])/gi

/** The user's words as they are, but for what would pass for words of the client's or of Baton's own. */
export function asSaid(text: string): string {
  return seen(text).replace(OWN_TAG, '‹')
}

/**
 * Returns a name or path of another author as one line, for use inside a sentence of Baton's own.
 * The author of a repository chose the names of its folders.
 */
export function asName(text: string): string {
  return asSaid(text).replace(/\s+/g, ' ').trim()
}

/** Words of tools and of the agent, in one line that is plainly a quotation: nothing in them ends it or looks like an order. */
export function asData(text: string): string {
  const line = seen(text).replace(/\s+/g, ' ').trim()
  return `\`${line.replace(ANY_TAG, '‹').replace(/`/g, "'")}\``
}

function seen(text: string): string {
  const plain = text
    .replace(ESCAPES, '')
    .replace(/\r\n/g, '\n')
    .replace(/\r/g, ' ')
    .replace(OTHER_LINE_ENDS, ' ')
    .replace(UNSEEN, '')
  return withoutOwnMark(plain)
}

/** The mark that Baton's own messages begin with, in any case and with spaces inside. */
const OWN_MARK = /\[(\s{0,5}baton\s{0,5})\]/gi

/**
 * Changes Baton's mark in a text of another author, so that no line can pass for Baton's own words.
 */
export function withoutOwnMark(text: string): string {
  return text.replace(OWN_MARK, '($1)')
}
