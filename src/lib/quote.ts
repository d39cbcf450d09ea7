/** Escape sequences of terminals: colours, titles, and unterminated sequences. */
const ESCAPES = /\u001b(?:\[[0-?]{0,50}[ -/]{0,5}[@-~]?|\][^\u0007\u001b\n]{0,300}(?:\u0007|\u001b\\)?|[@-Z\\^_])?/g
/**
 * Invisible characters: controls, direction marks, zero-width letters. Line ends and tabs are kept.
 */
const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu
const OTHER_LINE_ENDS = /[\u2028\u2029]/g
/** Tags that clients put around their own text. */
const OWN_TAG = new RegExp(
  String.raw`<(?=\/?\s{0,5}(?:antml:|system|assistant|human|user-|command-|local-command|task-|tool|function|` +
    'hook|bash-|persisted|new-diagnostics|session-|baton))',
  'gi',
)
const ANY_TAG = /<(?=[/!?]?\s{0,5}[a-z])/gi

/** Returns the user's text without anything that could pass for text of the client or of Baton. */
export function sanitizeText(text: string): string {
  return removeUnseen(text).replace(OWN_TAG, '‹')
}

/**
 * Returns a name or path of another author as one line, for use inside a sentence of Baton.
 * The author of a repository chose the names of its folders, so they cannot be trusted.
 */
export function sanitizeName(text: string): string {
  return sanitizeText(text).replace(/\s+/g, ' ').trim()
}

/**
 * Returns text of tools or the agent as a quotation in one line.
 * No text inside can end the quotation or look like an instruction.
 */
export function quoteAsData(text: string): string {
  const line = removeUnseen(text).replace(/\s+/g, ' ').trim()
  return `\`${line.replace(ANY_TAG, '‹').replace(/`/g, "'")}\``
}

function removeUnseen(text: string): string {
  const plain = text
    .replace(ESCAPES, '')
    .replace(/\r\n/g, '\n')
    .replace(/\r/g, ' ')
    .replace(OTHER_LINE_ENDS, ' ')
    .replace(UNSEEN, '')
  return withoutOwnMark(plain)
}

/** The mark `[baton]` at the start of Baton's own messages, in any case and with spaces inside. */
const OWN_MARK = /\[(\s{0,5}baton\s{0,5})\]/gi

/**
 * Changes Baton's mark in a text of another author, so that no line passes for a message of Baton.
 */
export function withoutOwnMark(text: string): string {
  return text.replace(OWN_MARK, '($1)')
}
