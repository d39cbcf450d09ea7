/** A place in a text that holds a value, brackets and quotes around it left out. */
export interface Span {
  from: number
  to: number
}

/**
 * What stands after a name and its sign: quoted, in brackets, or bare. null: nothing does. Never looks further than it reaches, so that
 * whoever goes on behind it reads a text once.
 */
export function readValue(text: string, at: number): (Span & { quoted: boolean }) | null {
  const opened = quoteAt(text, at)
  if (opened) return { ...readQuoted(text, opened), quoted: true }
  const closing = CLOSING[text[at] ?? '']
  if (closing === undefined) return readBare(text, at)
  const inside = afterSpaces(text, at + 1)
  const list = quoteAt(text, inside)
  if (list) return text[at] === '{' ? null : { ...readList(text, list), quoted: true }
  const to = runEnd(BRACKETED, text, at + 1)
  return text[to] === closing && to > at + 1 ? { from: at + 1, to, quoted: false } : null
}

const CLOSING: Record<string, string> = { '[': ']', '(': ')', '{': '}', '<': '>' }
const BRACKETED = /[^\s()[\]{}<>"'`=:,]*/y
const BARE = /[^\s"'`\\,;&|<>(){}[\]]*/y
const WORD = /^[A-Za-z_$][\w$.]*$/
const REST = /[^\s"'`\\]*/y

/** A name before a bracket is a call; anything else with a bracket in it is still the value. */
function readBare(text: string, from: number): (Span & { quoted: boolean }) | null {
  const to = runEnd(BARE, text, from)
  if (to === from) return null
  const goesOn = CLOSING[text[to] ?? ''] !== undefined && !WORD.test(text.slice(from, to))
  return { from, to: goesOn ? runEnd(REST, text, to) : to, quoted: false }
}

/** How far an expression with the flag y reaches. */
export function runEnd(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}

interface Quote {
  sign: string
  /** Inside a text that was itself written as JSON. */
  escaped: boolean
  from: number
}

export function quoteAt(text: string, at: number): Quote | null {
  let from = at
  while (text[from] === '\\' && from - at < 3) from++
  const sign = text[from] ?? ''
  return sign !== '' && '"\'`'.includes(sign) ? { sign, escaped: from > at, from: from + 1 } : null
}

/** To the closing quote, or to the end of the line where there is none. */
export function readQuoted(text: string, { sign, escaped, from }: Quote): Span {
  let to = from
  for (; to < text.length; to++) {
    const char = text[to]!
    if (char === sign || char === '\n' || char === '\r') break
    if (char !== '\\') continue
    if (escaped) break
    to++
  }
  return { from, to: Math.min(to, text.length) }
}

/** Everything from the first to the last of several that stand one after the other. */
function readList(text: string, first: Quote): Span {
  let { to } = readQuoted(text, first)
  for (;;) {
    const behind = afterSpaces(text, text.indexOf(first.sign, to) + 1 || text.length)
    if (text[behind] !== ',' || behind - to > 10) return { from: first.from, to }
    const next = quoteAt(text, afterSpaces(text, behind + 1))
    if (!next) return { from: first.from, to }
    to = readQuoted(text, next).to
  }
}

const SPACES = /\s{0,3}/y

function afterSpaces(text: string, at: number): number {
  return runEnd(SPACES, text, at)
}
