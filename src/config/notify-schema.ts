import * as v from 'valibot'
import { NOTICE_KINDS, NOTIFY_WAYS, type NotifyTarget, type NotifyWay } from '../contract/records/notice.js'
import type { CompiledConfig } from './compiled.js'
import {
  address,
  describeValue,
  duration,
  listOf,
  mapOf,
  oneOf,
  optional,
  parseDuration,
  setOf,
  text,
  withHint,
} from './value-kinds.js'

/** Default interval: fast enough to follow a burst of events, at most two notices per minute. */
const EVERY_MS = 30_000

/** A key that another way to notify has and that would have no effect here. */
const without = (key: string, via: NotifyWay) =>
  v.nullish(v.never(withHint(`would have no effect: \`via: ${via}\` uses no ${key}`, 'remove the key')))

const everyEntry = {
  on: optional(
    v.pipe(
      setOf(oneOf(NOTICE_KINDS, 'event')),
      v.minLength(1, withHint('is empty, so nothing would be sent', `name at least one of ${NOTICE_KINDS.join(', ')}`)),
    ),
  ),
  at_most_every: optional(duration),
}

const entryOf = (via: NotifyWay) => {
  const isWeb = via === 'webhook' || via === 'ntfy'
  const entries = {
    via: v.literal(via),
    ...everyEntry,
    command: via === 'command' ? text : without('command', via),
    url: isWeb ? address : without('url', via),
  }
  return mapOf(entries, `\`via: ${via}\``)
}

const ENTRIES = Object.fromEntries(NOTIFY_WAYS.map((via) => [via, entryOf(via)])) as Record<
  NotifyWay,
  ReturnType<typeof entryOf>
>

const SHORT = ['bell', 'desktop'] as const
const LONG_HINT =
  'write `bell`, `desktop`, `{via: command, command: …}`, `{via: webhook, url: …}` or `{via: ntfy, url: …}`'

/** The short forms `bell` and `desktop`. The other ways need a command or an address. */
const shortForm = v.custom<(typeof SHORT)[number]>(
  (written) => (SHORT as readonly unknown[]).includes(written),
  ({ input }) => {
    if (typeof input !== 'string') return withHint(`expected a notify target, got ${describeValue(input)}`, LONG_HINT)
    const needs = input === 'command' ? 'command' : input === 'webhook' || input === 'ntfy' ? 'url' : null
    if (needs !== null) return withHint(`\`${input}\` needs a ${needs}`, `write \`{via: ${input}, ${needs}: …}\``)
    const { message } = v.safeParse(oneOf(NOTIFY_WAYS, 'notify target'), input).issues![0]
    return message
  },
)

/** Selects the schema by what is written, so that a mistake is reported at its own key. */
const notifyEntry = v.lazy((input) => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return shortForm as v.GenericSchema
  const { via } = input as { via?: unknown }
  if (typeof via === 'string' && Object.hasOwn(ENTRIES, via)) return ENTRIES[via as NotifyWay]
  if (via === undefined && 'webhook' in input) return mapOf({ webhook: address })
  if (via === undefined && 'command' in input) return mapOf({ command: text })
  return mapOf({
    via: oneOf(NOTIFY_WAYS, 'notify target'),
    ...everyEntry,
    command: optional(text),
    url: optional(address),
  })
})

export const notify = v.pipe(
  listOf(notifyEntry),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const values: unknown[] = dataset.value
    const keys = values.map((value) => JSON.stringify(toNotifyTarget(value)))
    keys.forEach((key, index) => {
      const first = keys.indexOf(key)
      if (first === index) return
      addIssue({
        message: withHint(`duplicates entry ${first + 1} of the list`, 'remove one of the two'),
        path: [{ type: 'array', origin: 'value', input: values, key: index, value: values[index] }],
      })
    })
  }),
)

interface WrittenEntry {
  via: NotifyWay
  on?: NotifyTarget['on'] | null
  command?: string | null
  url?: string | null
  at_most_every?: string | null
}

/** Returns a checked entry with its defaults. Forms without `via` are those of earlier versions. */
export function toNotifyTarget(written: unknown): NotifyTarget {
  const entry = entryFrom(written as 'bell' | 'desktop' | { command: string } | { webhook: string } | WrittenEntry)
  return {
    via: entry.via,
    // Sorted by the fixed list, so that equal entries are equal texts however they were written.
    on: NOTICE_KINDS.filter((kind) => entry.on?.includes(kind) ?? true),
    command: entry.command ?? null,
    url: entry.url ?? null,
    everyMs: (entry.at_most_every ? parseDuration(entry.at_most_every) : null) ?? EVERY_MS,
  }
}

function entryFrom(
  written: 'bell' | 'desktop' | { command: string } | { webhook: string } | WrittenEntry,
): WrittenEntry {
  if (typeof written === 'string') return { via: written }
  if ('via' in written) return written
  return 'webhook' in written ? { via: 'webhook', url: written.webhook } : { via: 'command', command: written.command }
}

/** An entry of `notify` that can be in force. */
export interface NotifyEntry {
  /** Path of the entry in its file: `notify[0]`, `overrides[1].notify[0]`. */
  key: string
  /** Description for users: `user file ~/.config/baton/config.yaml`. */
  from: string
  target: NotifyTarget
}

/**
 * Lists every entry of `notify` that any session can have, including those of overrides.
 * A list in a higher source replaces those of lower sources, as in `policyFor`.
 */
export function notifyEntries({ layers }: Pick<CompiledConfig, 'layers'>): NotifyEntry[] {
  let entries: NotifyEntry[] = []
  for (const { from, set, overrides } of layers) {
    const listed = (targets: readonly NotifyTarget[], prefix: string): NotifyEntry[] =>
      targets.map((target, index) => ({ key: `${prefix}notify[${index}]`, from, target }))
    if (set.notify !== undefined) entries = listed(set.notify, '')
    overrides.forEach((override, index) => {
      entries = [...entries, ...listed(override.set.notify ?? [], `overrides[${index}].`)]
    })
  }
  return entries
}
