/** What is removed behind a match, or passed over; null: nothing stands there. */
export type Reach = (text: string, at: number, match: RegExpExecArray) => (Span & { spare?: boolean }) | null

export interface Pattern {
  /** What the removed text is called in its place. */
  name: string
  /** Removed is what it matches, or with `reach` what that finds behind it. */
  expression: RegExp
  reach?: Reach
  /** Where this stands nowhere in a text, the expression need not be tried: most texts hold none of it. */
  hint?: RegExp
}

const SIGN = '\\\\{0,3}["\'`]?\\]?[ \\t]{0,3}(?::=|=>|={1,3}|:)[ \\t]{0,3}'
const SECRET =
  '(?:password|passwd|passphrase|passcode|secret|credential|(?<=[_;])pwd|(?:api|access|private|auth|account|encryption|signing|storage)[_-]?key)'

/** Secrets that are known by what stands in front of them, not by what they look like. */
export const NAMED: readonly Pattern[] = [
  { name: 'token', expression: authorization(), reach: afterAuthorization },
  { name: 'cookie', expression: new RegExp(`\\b(?:set-)?cookie2?${SIGN}|--cookie[ =]`, 'gi'), reach: cookies },
  { name: 'cookie', expression: /(?<![\w-])-b[ \t]{0,3}/g, reach: inCommand(/\bcurl\b/, cookies), hint: /curl/ },
  {
    name: 'password',
    expression: /(?<![\w-])(?:-u|-U|--user|--proxy-user)[ \t=]{0,3}/g,
    reach: inCommand(/\bcurl\b|\bwget\b|\blftp\b/, afterUser),
    hint: /curl|wget|lftp/,
  },
  {
    name: 'password',
    expression: /(?<![\w-])-p(?=\S)/g,
    reach: inCommand(/\b(?:mysql|mariadb)[\w-]*|\bsshpass\b/, argument),
    hint: /mysql|mariadb|sshpass/,
  },
  {
    name: 'password',
    expression: /(?<![\w-])-p[ \t]{1,3}/g,
    reach: inCommand(/\bsshpass\b/, argument),
    hint: /sshpass/,
  },
  {
    name: 'password',
    expression: /(?<![\w-])-a[ \t]{1,3}/g,
    reach: inCommand(/\bredis-cli\b/, argument),
    hint: /redis-cli/,
  },
  { name: 'password', expression: /(?<keep>-pass(?:in|out)?[ \t]{1,3}["']?pass:)[^\s"']+/g },
  { name: 'password', expression: /(?<keep>\blogin[ \t]{1,3}[^\s]{1,100}\s{1,3}password[ \t]{1,3})[^\s]+/g },
  { name: 'secret', expression: /(?<keep>secret_access_key[ \t]{1,20})[A-Za-z0-9/+=]{16,}/gi },
  {
    name: 'secret',
    expression: /(?<keep><[\w:.-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key)>)[^<\r\n]+/gi,
  },
  {
    name: 'secret',
    expression:
      /(?<![\w-])--?(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|passphrase|token|secret|api-?key|access-?key|secret-?key)[ \t]{1,3}/gi,
    reach: afterFlag,
    hint: /-(?:pass|token|secret|api|access)/i,
  },
  { name: 'secret', expression: new RegExp(`${SECRET}(?:[A-Za-z0-9_]{0,20}|-key)${SIGN}`, 'gi'), reach: assigned(6) },
  { name: 'secret', expression: new RegExp(`(?:token\\d{0,2}|\\b_auth)${SIGN}`, 'gi'), reach: assignedToken },
]

/** Words of a program's text, places to take a secret from, and what is removed already. */
const NO_SECRET =
  /^(?:(?:string|number|boolean|undefined|unknown|required|optional|none|null|true|false)\b.{0,3}$|(?:process\.env|os\.environ|import\.meta|secrets\.)|\$[A-Z_][A-Z0-9_]*$|\$?\{\{?[\w. ]+\}?\}?$|\$\(|(?:\[?[a-z-]{1,12} )?(?:[a-z]{1,12} )?removed\]?$)/

function assigned(least: number): Reach {
  return (text, at) => {
    const value = readValue(text, at)
    if (!value) return null
    const { from, to, quoted } = value
    const called = !quoted && (text[to] === '(' || text[to] === '[')
    return { from, to, spare: called || to - from < (quoted ? 1 : least) || isNoSecret(text, value) }
  }
}

/** Much is called a token: what stands apart from the name has to look like one. */
function assignedToken(text: string, at: number, match: RegExpExecArray): ReturnType<Reach> {
  const found = assigned(4)(text, at, match)
  if (!found || found.spare) return found
  const { from, to } = found
  const value = text.slice(from, Math.min(to, from + 24))
  const apart = /[ \t]$/.test(match[0])
  if (quoteAt(text, from - 1)) return { from, to, spare: apart && to - from < 6 && !/["'`]/.test(match[0]) }
  return {
    from,
    to,
    spare: /^\d{1,8}$/.test(value) || (apart && value.length < 20 && (value.length < 6 || !/\d/.test(value))),
  }
}

function isNoSecret(text: string, { from, to }: Span): boolean {
  if (to - from > 100) return false
  return NO_SECRET.test(text.slice(from, to)) || (text[to] === '{' && text[to - 1] === '$')
}

const PROSE =
  /^(?:flags?|options?|arguments?|parameters?|switch|values?|is|was|are|to|and|or|for|from|with|in|on|as|if|when|that|which|must|should|can|needs?)$/

function afterFlag(text: string, at: number): ReturnType<Reach> {
  const value = argument(text, at)
  if (!value || text[value.from] === '-') return null
  return {
    ...value,
    spare: isNoSecret(text, value) || PROSE.test(text.slice(value.from, Math.min(value.to, value.from + 12))),
  }
}

const SHELL_WORD = /[^\s"'`\\|;&<>()]+/y

/** An argument of a command. */
function argument(text: string, at: number): ReturnType<Reach> {
  const quote = quoteAt(text, at)
  const span = quote ? readQuoted(text, quote) : { from: at, to: runEnd(SHELL_WORD, text, at) }
  return span.to === span.from ? null : { ...span, spare: isNoSecret(text, span) }
}

const USER = /[^\s"'`:\\]{0,100}:/y

function afterUser(text: string, at: number): ReturnType<Reach> {
  const quote = quoteAt(text, at)
  const start = quote?.from ?? at
  const from = runEnd(USER, text, start)
  if (from === start) return null
  const { to } = quote ? readQuoted(text, { ...quote, from }) : { to: runEnd(SHELL_WORD, text, from) }
  return to === from ? null : { from, to, spare: isNoSecret(text, { from, to }) }
}

const COOKIE = /[^\s=;,"'`\\]{1,100}=/y
const LINE = /[^\r\n"'`\\]*/y

function cookies(text: string, at: number): ReturnType<Reach> {
  const value = quoteAt(text, at) || text[at] === '[' ? readValue(text, at) : null
  const from = value?.from ?? at
  const spare = runEnd(COOKIE, text, from) === from
  if (value) return { ...value, spare }
  return spare ? null : { from, to: runEnd(LINE, text, from) }
}

function authorization(): RegExp {
  const scheme = '(?:bearer|basic|token|digest|negotiate|api-?key|aws4-hmac-sha256)[ \\t]{1,3}'
  return new RegExp(`\\bauthorization${SIGN}\\[?(?:\\\\{0,3}["'\`])?(?<scheme>${scheme})?`, 'gi')
}

const CREDENTIAL = /[^\s"'`\\,;<>]+/y

function afterAuthorization(text: string, at: number, match: RegExpExecArray): ReturnType<Reach> {
  const scheme = match.groups?.scheme?.trim().toLowerCase()
  const several = scheme === 'digest' || scheme === 'aws4-hmac-sha256'
  const span = { from: at, to: runEnd(several ? LINE : CREDENTIAL, text, at) }
  if (span.to === at) return null
  const value = text.slice(at, Math.min(span.to, at + 40))
  const plain =
    scheme === undefined ? value.length < 16 || !/\d/.test(value) : value.length < 4 || /^[a-z]{1,11}$/.test(value)
  return { ...span, spare: plain || isNoSecret(text, span) }
}

const BACK = 400

/** Only where the command stands in front of it, with nothing between them that ends a command. */
function inCommand(command: RegExp, reach: Reach): Reach {
  return (text, at, match) => {
    const before = text.slice(Math.max(0, match.index - BACK), match.index)
    const begin = Math.max(
      before.lastIndexOf(';'),
      before.lastIndexOf('|'),
      before.lastIndexOf('&& '),
      lineBegin(before),
    )
    return command.test(before.slice(begin + 1)) ? reach(text, at, match) : null
  }
}

/** A line that ends with a backslash goes on. */
function lineBegin(text: string): number {
  let at = text.lastIndexOf('\n')
  while (at > 0 && text[at - 1] === '\\') at = text.lastIndexOf('\n', at - 1)
  return at
}

/** A place in a text that holds a value, brackets and quotes around it left out. */
interface Span {
  from: number
  to: number
}

/**
 * What stands after a name and its sign: quoted, in brackets, or bare. null: nothing does. Never looks further than it reaches, so that
 * whoever goes on behind it reads a text once.
 */
function readValue(text: string, at: number): (Span & { quoted: boolean }) | null {
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
function runEnd(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}

interface Quote {
  sign: string
  /** Inside a text that was itself written as JSON. */
  escaped: boolean
  from: number
}

function quoteAt(text: string, at: number): Quote | null {
  let from = at
  while (text[from] === '\\' && from - at < 3) from++
  const sign = text[from] ?? ''
  return sign !== '' && '"\'`'.includes(sign) ? { sign, escaped: from > at, from: from + 1 } : null
}

/** To the closing quote, or to the end of the line where there is none. */
function readQuoted(text: string, { sign, escaped, from }: Quote): Span {
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
