/**
 * Finds the value after a match.
 * Null when there is none. `spare` marks a value that is not a secret.
 */
export type ValueFinder = (text: string, at: number, match: RegExpExecArray) => (Span & { spare?: boolean }) | null

export interface RedactionPattern {
  /** Name shown in place of the removed text. */
  name: string
  /** Matches the text to remove, or, with `reach`, the text in front of that text. */
  expression: RegExp
  reach?: ValueFinder
  /** Pre-check that most texts fail. Without a match of `hint`, `expression` is not tried. */
  hint?: RegExp
}

const SIGN = '\\\\{0,3}["\'`]?\\]?[ \\t]{0,3}(?::=|=>|={1,3}|:)[ \\t]{0,3}'
const SECRET =
  '(?:password|passwd|passphrase|passcode|secret|credential|(?<=[_;])pwd|(?:api|access|private|auth|account|' +
  'encryption|signing|storage)[_-]?key)'

/** Secrets recognized by the name or flag in front of them, not by their own shape. */
export const NAMED_SECRETS: readonly RedactionPattern[] = [
  { name: 'token', expression: authorization(), reach: findCredential },
  { name: 'cookie', expression: new RegExp(`\\b(?:set-)?cookie2?${SIGN}|--cookie[ =]`, 'gi'), reach: findCookies },
  { name: 'cookie', expression: /(?<![\w-])-b[ \t]{0,3}/g, reach: inCommand(/\bcurl\b/, findCookies), hint: /curl/ },
  {
    name: 'password',
    expression: /(?<![\w-])(?:-u|-U|--user|--proxy-user)[ \t=]{0,3}/g,
    reach: inCommand(/\bcurl\b|\bwget\b|\blftp\b/, findPassword),
    hint: /curl|wget|lftp/,
  },
  {
    name: 'password',
    expression: /(?<![\w-])-p(?=\S)/g,
    reach: inCommand(/\b(?:mysql|mariadb)[\w-]*|\bsshpass\b/, readArgument),
    hint: /mysql|mariadb|sshpass/,
  },
  {
    name: 'password',
    expression: /(?<![\w-])-p[ \t]{1,3}/g,
    reach: inCommand(/\bsshpass\b/, readArgument),
    hint: /sshpass/,
  },
  {
    name: 'password',
    expression: /(?<![\w-])-a[ \t]{1,3}/g,
    reach: inCommand(/\bredis-cli\b/, readArgument),
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
    expression: new RegExp(
      String.raw`(?<![\w-])--?(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|passphrase|token|secret|api-?key|` +
        String.raw`access-?key|secret-?key)[ \t]{1,3}`,
      'gi',
    ),
    reach: findAfterFlag,
    hint: /-(?:pass|token|secret|api|access)/i,
  },
  {
    name: 'secret',
    expression: new RegExp(`${SECRET}(?:[A-Za-z0-9_]{0,20}|-key)${SIGN}`, 'gi'),
    reach: findAssigned(6),
  },
  { name: 'secret', expression: new RegExp(`(?:token\\d{0,2}|\\b_auth)${SIGN}`, 'gi'), reach: findAssignedToken },
]

/** Values that are no secrets: type names, references to variables, and already removed text. */
const NO_SECRET = new RegExp(
  String.raw`^(?:(?:string|number|boolean|undefined|unknown|required|optional|none|null|true|false)\b.{0,3}$|` +
    String.raw`(?:process\.env|os\.environ|import\.meta|secrets\.)|\$[A-Z_][A-Z0-9_]*$|\$?\{\{?[\w. ]+\}?\}?$|` +
    String.raw`\$\(|(?:\[?[a-z-]{1,12} )?(?:[a-z]{1,12} )?removed\]?$)`,
)

function findAssigned(least: number): ValueFinder {
  return (text, at) => {
    const value = readValue(text, at)
    if (!value) return null
    const { from, to, quoted } = value
    const called = !quoted && (text[to] === '(' || text[to] === '[')
    return { from, to, spare: called || to - from < (quoted ? 1 : least) || isNoSecret(text, value) }
  }
}

/**
 * Finds a token's value. "Token" is a common word, so a value after a space must look like a token.
 */
function findAssignedToken(text: string, at: number, match: RegExpExecArray): ReturnType<ValueFinder> {
  const found = findAssigned(4)(text, at, match)
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

const PROSE = new RegExp(
  '^(?:flags?|options?|arguments?|parameters?|switch|values?|is|was|are|to|and|or|for|from|with|in|on|' +
    'as|if|when|that|which|must|should|can|needs?)$',
)

function findAfterFlag(text: string, at: number): ReturnType<ValueFinder> {
  const value = readArgument(text, at)
  if (!value || text[value.from] === '-') return null
  return {
    ...value,
    spare: isNoSecret(text, value) || PROSE.test(text.slice(value.from, Math.min(value.to, value.from + 12))),
  }
}

const SHELL_WORD = /[^\s"'`\\|;&<>()]+/y

/** Reads one argument of a shell command. */
function readArgument(text: string, at: number): ReturnType<ValueFinder> {
  const quote = quoteAt(text, at)
  const span = quote ? readQuoted(text, quote) : { from: at, to: runEnd(SHELL_WORD, text, at) }
  return span.to === span.from ? null : { ...span, spare: isNoSecret(text, span) }
}

const USER = /[^\s"'`:\\]{0,100}:/y

function findPassword(text: string, at: number): ReturnType<ValueFinder> {
  const quote = quoteAt(text, at)
  const start = quote?.from ?? at
  const from = runEnd(USER, text, start)
  if (from === start) return null
  const { to } = quote ? readQuoted(text, { ...quote, from }) : { to: runEnd(SHELL_WORD, text, from) }
  return to === from ? null : { from, to, spare: isNoSecret(text, { from, to }) }
}

const COOKIE = /[^\s=;,"'`\\]{1,100}=/y
const LINE = /[^\r\n"'`\\]*/y

function findCookies(text: string, at: number): ReturnType<ValueFinder> {
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

function findCredential(text: string, at: number, match: RegExpExecArray): ReturnType<ValueFinder> {
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

/** Applies `reach` only when `command` stands before the match in the same shell command. */
function inCommand(command: RegExp, reach: ValueFinder): ValueFinder {
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

/** Returns where the current line begins. A backslash at a line's end continues the line. */
function lineBegin(text: string): number {
  let at = text.lastIndexOf('\n')
  while (at > 0 && text[at - 1] === '\\') at = text.lastIndexOf('\n', at - 1)
  return at
}

/** Range of a value in a text, without surrounding brackets and quotes. */
interface Span {
  from: number
  to: number
}

/**
 * Reads the value after a name and its `=` or `:`: quoted, bracketed or bare.
 * Null when there is none.
 * Never reads beyond the value, so that redaction stays linear in the length of the text.
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

/**
 * Reads a bare value.
 * A name before a bracket is a function call. Other brackets belong to the value.
 */
function readBare(text: string, from: number): (Span & { quoted: boolean }) | null {
  const to = runEnd(BARE, text, from)
  if (to === from) return null
  const continues = CLOSING[text[to] ?? ''] !== undefined && !WORD.test(text.slice(from, to))
  return { from, to: continues ? runEnd(REST, text, to) : to, quoted: false }
}

/** Returns the position where a match of a sticky expression ends. */
function runEnd(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}

interface Quote {
  sign: string
  /** True for a quote inside a text that is itself JSON-encoded. */
  escaped: boolean
  from: number
}

function quoteAt(text: string, at: number): Quote | null {
  let from = at
  while (text[from] === '\\' && from - at < 3) from++
  const sign = text[from] ?? ''
  return sign !== '' && '"\'`'.includes(sign) ? { sign, escaped: from > at, from: from + 1 } : null
}

/** Reads to the closing quote. Without a closing quote, reads to the end of the line. */
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

/** Reads a list of quoted values, from the first to the last. */
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
