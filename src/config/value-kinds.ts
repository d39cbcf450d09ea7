import * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'

/** Separates the two parts of a schema's message: the problem, and the hint what to write. */
const SEPARATOR = '\u0000'

/** Joins a problem and its hint to one message, because a schema can carry only one text. */
export function withHint(reason: string, hint = ''): string {
  return `${reason}${SEPARATOR}${hint}`
}

/** Splits a message into problem and hint. */
export function splitHint(message: string): { reason: string; hint: string } {
  const [reason = '', hint = ''] = message.split(SEPARATOR)
  return { reason, hint }
}

/** Describes a value for a sentence: `a list`, `the string "x"`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value !== 'string') return String(value)
  return `the string "${value.length > 40 ? `${value.slice(0, 39)}…` : value}"`
}

/** Makes a key optional; a key without a value (`levels:` alone) counts as not written. */
export const optional = <const T extends v.GenericSchema>(schema: T) => v.nullish(schema)

export const trueOrFalse = v.boolean(({ input }) =>
  withHint(
    `expected true or false, got ${describeValue(input)}`,
    input === 'yes' || input === 'on'
      ? 'write `true`'
      : input === 'no' || input === 'off'
        ? 'write `false`'
        : 'write `true` or `false`',
  ),
)

interface Range {
  least: number
  most?: number
  whole?: boolean
  /** Value for the hint. */
  example: number
}

/** A finite number within bounds. A text is not accepted, even if it looks like a number. */
export function numberIn({ least, most = Number.MAX_SAFE_INTEGER, whole = true, example }: Range) {
  const kind = whole ? 'a whole number' : 'a number'
  const fits = (value: unknown): value is number =>
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!whole || Number.isSafeInteger(value)) &&
    value >= least &&
    value <= most
  return v.custom<number>(fits, ({ input }) => {
    if (typeof input === 'string')
      return withHint(
        `expected ${kind}, got ${describeValue(input)}`,
        `write \`${fits(Number(input)) ? Number(input) : example}\``,
      )
    if (typeof input !== 'number' || !Number.isFinite(input))
      return withHint(`expected ${kind}, got ${describeValue(input)}`, `write \`${example}\``)
    if (input < least) return withHint(`${input} is below ${least}`, `write ${least} or more`)
    if (input > most) return withHint(`${input} is above ${most}`, `write ${most} or less`)
    return withHint(`${input} is not a whole number`, `write \`${Math.round(input)}\``)
  })
}

export const text = v.pipe(
  v.string(({ input }) =>
    withHint(`expected a string, got ${describeValue(input)}`, typeof input === 'number' ? `write \`'${input}'\`` : ''),
  ),
  v.check((value) => value.trim() !== '', withHint('expected a string, got an empty one')),
)

export const address = v.pipe(
  text,
  v.regex(/^https?:\/\/\S+$/, ({ input }) =>
    withHint(`\`${input}\` is not a URL`, 'begin with `https://` or `http://`'),
  ),
)

/** A duration such as `24h`, `90m` or `30s`. */
export const duration = v.custom<string>(
  (written) => typeof written === 'string' && parseDuration(written) !== null,
  ({ input }) => {
    if (typeof input === 'number')
      return withHint(`${input} has no unit`, 'write a duration in quotes: `"24h"`, `"90m"`, `"30s"`')
    return withHint(
      typeof input === 'string' ? `\`${input}\` is not a duration` : `expected a duration, got ${describeValue(input)}`,
      'write `"24h"`, `"90m"` or `"30s"`',
    )
  },
)

export function oneOf<const T extends readonly string[]>(known: T, what: string) {
  return v.picklist(known, ({ input }) => {
    const nearest = typeof input === 'string' ? nearestName(input, known) : null
    const reason =
      typeof input === 'string' ? `unknown ${what} \`${input}\`` : `expected a ${what}, got ${describeValue(input)}`
    return withHint(
      reason,
      nearest ? `did you mean \`${nearest}\`?` : `write ${known.map((name) => `\`${name}\``).join(', ')}`,
    )
  })
}

export function listOf<const T extends v.GenericSchema>(item: T) {
  return v.array(item, ({ input }) =>
    withHint(
      `expected a list, got ${describeValue(input)}`,
      typeof input === 'string' || typeof input === 'number' ? `write \`[${input}]\`` : '',
    ),
  )
}

/** Schema of a list whose items must all be different. */
export function setOf<const T extends v.GenericSchema>(item: T) {
  return v.pipe(
    listOf(item),
    v.rawCheck(({ dataset, addIssue }) => {
      // Runs for values that are no list too; other schemas have reported those already.
      const values: unknown[] = Array.isArray(dataset.value) ? dataset.value : []
      const seen = new Set<unknown>()
      values.forEach((value, index) => {
        if (!seen.has(value)) {
          seen.add(value)
          return
        }
        addIssue({
          message: withHint(`\`${value}\` is listed twice`, 'write it once'),
          path: [{ type: 'array', origin: 'value', input: values, key: index, value }],
        })
      })
    }),
  )
}

/** A map. Refuses lists, which the library's own object schemas accept as maps. */
// biome-ignore lint/suspicious/noExplicitAny: the next step of the pipe says what the map holds
const anyMap = v.custom<any>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  (issue) => mapMessage(issue),
)

/**
 * A map with these keys.
 * `whoNeeds`: the entry that needs a missing key. Absent: every entry of its kind.
 */
export function mapOf<const T extends v.ObjectEntries>(entries: T, whoNeeds?: string) {
  return v.pipe(
    anyMap,
    v.object(entries, (issue) => mapMessage(issue, whoNeeds)),
  )
}

export function variantOf<const T extends v.VariantOptions<'type'>>(
  options: T,
  message: v.ErrorMessage<v.VariantIssue>,
) {
  return v.pipe(anyMap, v.variant('type', options, message))
}

/** A map from any name to a value. */
export function mapByName<const T extends v.GenericSchema>(value: T) {
  return v.pipe(
    anyMap,
    v.record(v.string(), value, (issue) => mapMessage(issue)),
  )
}

export function mapMessage({ input, expected, path }: v.BaseIssue<unknown>, whoNeeds = 'every entry'): string {
  // A missing key is reported by its map, with the key as the last step of the path.
  if (expected?.startsWith('"') && path?.at(-1)?.value === undefined)
    return withHint('is missing', `${whoNeeds} needs it`)
  return withHint(`expected a map, got ${describeValue(input)}`)
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `24h`, `90m` or `1h 30m` to milliseconds. Null when it is not a duration above zero. */
export function parseDuration(written: string): number | null {
  const text = written.trim().toLowerCase().replace(/\s+/g, '')
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return null
  let sum = 0
  for (const [, figure, unit] of text.matchAll(/([\d.]+)([a-z]+)/g)) sum += Number(figure) * UNITS[unit!]!
  const whole = Math.round(sum)
  return whole >= 1 && Number.isSafeInteger(whole) ? whole : null
}
