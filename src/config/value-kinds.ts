import * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'

/** A schema's message carries two sentences: what is wrong, and what to write instead. */
const BETWEEN = '\u0000'

export function say(reason: string, hint = ''): string {
  return `${reason}${BETWEEN}${hint}`
}

export function unsay(message: string): { reason: string; hint: string } {
  const [reason = '', hint = ''] = message.split(BETWEEN)
  return { reason, hint }
}

/** A value as a sentence names it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value !== 'string') return String(value)
  return `the text "${value.length > 40 ? `${value.slice(0, 39)}…` : value}"`
}

/** A key without a value (`levels:` and nothing more) says nothing. */
export const may = <const T extends v.GenericSchema>(schema: T) => v.nullish(schema)

export const yesNo = v.boolean(({ input }) =>
  say(
    `expected true or false, got ${shown(input)}`,
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
  /** For the hint. */
  example: number
}

/** A finite number within bounds. A text is not a number, even one that looks like it. */
export function figure({ least, most = Number.MAX_SAFE_INTEGER, whole = true, example }: Range) {
  const kind = whole ? 'a whole number' : 'a number'
  const fits = (value: unknown): value is number =>
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!whole || Number.isSafeInteger(value)) &&
    value >= least &&
    value <= most
  return v.custom<number>(fits, ({ input }) => {
    if (typeof input === 'string')
      return say(`expected ${kind}, got ${shown(input)}`, `write \`${fits(Number(input)) ? Number(input) : example}\``)
    if (typeof input !== 'number' || !Number.isFinite(input))
      return say(`expected ${kind}, got ${shown(input)}`, `write \`${example}\``)
    if (input < least) return say(`${input} is below ${least}`, `write ${least} or more`)
    if (input > most) return say(`${input} is above ${most}`, `write ${most} or less`)
    return say(`${input} is not a whole number`, `write \`${Math.round(input)}\``)
  })
}

export const text = v.pipe(
  v.string(({ input }) =>
    say(`expected a text, got ${shown(input)}`, typeof input === 'number' ? `write \`'${input}'\`` : ''),
  ),
  v.check((value) => value.trim() !== '', say('expected a text, got an empty one')),
)

export const address = v.pipe(
  text,
  v.regex(/^https?:\/\/\S+$/, ({ input }) =>
    say(`\`${input}\` is not a web address`, 'begin with `https://` or `http://`'),
  ),
)

/** `24h`, `90m`, `30s`. */
export const duration = v.custom<string>(
  (written) => typeof written === 'string' && parseDuration(written) !== null,
  ({ input }) => {
    if (typeof input === 'number')
      return say(`${input} has no unit`, 'write a length of time in quotes: `"24h"`, `"90m"`, `"30s"`')
    return say(
      typeof input === 'string'
        ? `\`${input}\` is not a length of time`
        : `expected a length of time, got ${shown(input)}`,
      'write `"24h"`, `"90m"` or `"30s"`',
    )
  },
)

export function oneOf<const T extends readonly string[]>(known: T, what: string) {
  return v.picklist(known, ({ input }) => {
    const nearest = typeof input === 'string' ? nearestName(input, known) : null
    const reason =
      typeof input === 'string' ? `there is no ${what} \`${input}\`` : `expected a ${what}, got ${shown(input)}`
    return say(
      reason,
      nearest ? `did you mean \`${nearest}\`?` : `write ${known.map((name) => `\`${name}\``).join(', ')}`,
    )
  })
}

export function listOf<const T extends v.GenericSchema>(item: T) {
  return v.array(item, ({ input }) =>
    say(
      `expected a list, got ${shown(input)}`,
      typeof input === 'string' || typeof input === 'number' ? `write \`[${input}]\`` : '',
    ),
  )
}

/** A list in which nothing stands twice. */
export function setOf<const T extends v.GenericSchema>(item: T) {
  return v.pipe(
    listOf(item),
    v.rawCheck(({ dataset, addIssue }) => {
      // Runs on what is no list too: other schemas have said so already.
      const values: unknown[] = Array.isArray(dataset.value) ? dataset.value : []
      const seen = new Set<unknown>()
      values.forEach((value, index) => {
        if (!seen.has(value)) {
          seen.add(value)
          return
        }
        addIssue({
          message: say(`\`${value}\` is listed twice`, 'write it once'),
          path: [{ type: 'array', origin: 'value', input: values, key: index, value }],
        })
      })
    }),
  )
}

/** The library's own object schemas take a list for a map; nobody else does. */
// biome-ignore lint/suspicious/noExplicitAny: the next step of the pipe says what the map holds
const anyMap = v.custom<any>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  (issue) => mapMessage(issue),
)

/** `whoNeeds`: what a missing key is needed by; left out: every entry of its kind. */
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

export function named<const T extends v.GenericSchema>(value: T) {
  return v.pipe(
    anyMap,
    v.record(v.string(), value, (issue) => mapMessage(issue)),
  )
}

export function mapMessage({ input, expected, path }: v.BaseIssue<unknown>, whoNeeds = 'every entry'): string {
  // A key that is missing is reported by its map, with the key as the last step of the path.
  if (expected?.startsWith('"') && path?.at(-1)?.value === undefined) return say('is missing', `${whoNeeds} needs it`)
  return say(`expected a map of keys, got ${shown(input)}`)
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `24h`, `90m`, `1h 30m`; null: that is no length of time, or one of nothing at all. */
export function parseDuration(written: string): number | null {
  const text = written.trim().toLowerCase().replace(/\s+/g, '')
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return null
  let sum = 0
  for (const [, figure, unit] of text.matchAll(/([\d.]+)([a-z]+)/g)) sum += Number(figure) * UNITS[unit!]!
  const whole = Math.round(sum)
  return whole >= 1 && Number.isSafeInteger(whole) ? whole : null
}
