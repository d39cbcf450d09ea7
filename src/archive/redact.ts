import { NAMED_SECRETS, type RedactionPattern, type ValueFinder } from './named-secrets.js'
import type { LineTransform } from './restore-archive.js'

/**
 * Patterns of keys, tokens and passwords. Every expression is linear in the length of the text.
 * Text matched by a group `keep` stays, because it shows the kind of secret that was removed.
 */
export const BUILT_IN_PATTERNS: readonly RedactionPattern[] = [
  {
    name: 'private key',
    expression: new RegExp(
      String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END ` +
        '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)',
      'g',
    ),
  },
  { name: 'key', expression: /\bsk-[A-Za-z0-9_-]{16,}|\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/g },
  {
    name: 'token',
    expression: /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/g,
  },
  {
    name: 'token',
    expression:
      /\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}/g,
  },
  {
    name: 'key',
    expression: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}/g,
  },
  { name: 'token', expression: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g },
  {
    name: 'password',
    expression: /(?<keep>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]{0,100}:)[^\s/@"'<>]{1,200}(?=@)/gi,
  },
  { name: 'token', expression: /(?<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}/gi },
  ...NAMED_SECRETS,
]

export const E_MAIL: RedactionPattern = {
  name: 'e-mail',
  expression: /\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}\b/g,
}

const CONFIGURED_NAME = 'removed'

/** Compiles the patterns of the configuration. Throws what `RegExp` throws. */
export function configuredPatterns(written: readonly string[]): RedactionPattern[] {
  return written.map((source) => ({ name: CONFIGURED_NAME, expression: new RegExp(source, 'gu') }))
}

/** Replaces secrets in a text. `counts` collects the number of replacements per pattern name. */
export function redactText(text: string, patterns: readonly RedactionPattern[], counts: Map<string, number>): string {
  let left = text
  for (const { name, expression, reach, hint } of patterns) {
    if (hint && !hint.test(left)) continue
    if (reach) left = redactValues(left, expression, reach, () => countRemoval(name, counts))
    else
      left = left.replace(expression, (...found) => {
        // An empty match would put a mark between all characters.
        if (found[0] === '') return ''
        const groups = found.at(-1) as { keep?: string } | string
        return `${typeof groups === 'object' ? (groups.keep ?? '') : ''}${countRemoval(name, counts)}`
      })
  }
  return left
}

function redactValues(text: string, expression: RegExp, reach: ValueFinder, mark: () => string): string {
  let out = ''
  let done = 0
  expression.lastIndex = 0
  for (let found = expression.exec(text); found; found = expression.exec(text)) {
    const span = reach(text, expression.lastIndex, found)
    if (!span) continue
    // Skip spared values too. Otherwise a long text of names would be read again from each of them.
    expression.lastIndex = Math.max(expression.lastIndex, span.to)
    if (span.spare) continue
    out += text.slice(done, span.from) + mark()
    done = span.to
  }
  return done === 0 ? text : out + text.slice(done)
}

const NEWLINE = 10
const LINE_END = Buffer.from('\n')

/**
 * Redacts a transcript line by line while it is written.
 * Replaces text inside the JSON values, so that lines stay valid JSON.
 * Lines without secrets stay as they are.
 */
export function redactLines(patterns: readonly RedactionPattern[], counts: Map<string, number>): LineTransform {
  let rest: Buffer[] = []
  return {
    take(bytes) {
      const end = bytes.lastIndexOf(NEWLINE)
      if (end < 0) {
        rest.push(Buffer.from(bytes))
        return Buffer.alloc(0)
      }
      const whole = Buffer.concat([...rest, bytes.subarray(0, end)])
      rest = [Buffer.from(bytes.subarray(end + 1))]
      const out: Buffer[] = []
      for (let at = 0; at <= whole.length; ) {
        const next = whole.indexOf(NEWLINE, at)
        const to = next < 0 ? whole.length : next
        out.push(redactLine(whole.subarray(at, to), patterns, counts), LINE_END)
        at = to + 1
      }
      return Buffer.concat(out)
    },
    end: () => redactLine(Buffer.concat(rest), patterns, counts),
  }
}

/** JSON keys whose values are always removed, whatever the values look like. */
const SECRET_KEY = new RegExp(
  '(?:password|passwd|passphrase|secret|(?:api|access|secret|private|auth|account)[_-]?key|token|' +
    'authorization|(?:^|[_-])cookie)$',
  'i',
)

function redactLine(bytes: Buffer, patterns: readonly RedactionPattern[], counts: Map<string, number>): Buffer {
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const redacted = redactText(text, patterns, counts)
    return redacted === text ? bytes : Buffer.from(redacted)
  }
  let changed = false
  const walk = (one: unknown, key: string): unknown => {
    if (typeof one === 'string') {
      const redacted =
        one !== '' && SECRET_KEY.test(key) ? countRemoval('secret', counts) : redactText(one, patterns, counts)
      if (redacted !== one) changed = true
      return redacted
    }
    if (Array.isArray(one)) return one.map((inner) => walk(inner, key))
    if (typeof one === 'object' && one !== null)
      return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, walk(inner, name)]))
    return one
  }
  const redacted = walk(value, '')
  return changed ? Buffer.from(JSON.stringify(redacted)) : bytes
}

function countRemoval(name: string, counts: Map<string, number>): string {
  counts.set(name, (counts.get(name) ?? 0) + 1)
  return `[${name === CONFIGURED_NAME ? name : `${name} removed`}]`
}
