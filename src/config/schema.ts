import * as v from 'valibot'
import { MODES } from '../contract/level.js'
import { nearestName } from '../lib/nearest-name.js'
import { PRESET_NAMES } from './compiled.js'
import { parsePosition } from './position.js'
import {
  figure,
  listOf,
  looseMap,
  mapMessage,
  mapOf,
  named,
  oneOf,
  say,
  setOf,
  shown,
  text,
  variantOf,
  yesNo,
} from './value-kinds.js'

export const PLAIN_ACTIONS = ['user', 'agent', 'parent', 'request-handoff', 'hand-off', 'pause'] as const
const HOOK_EVENTS = ['completed', 'failed', 'timeout', 'cancelled', 'context_threshold', 'session_start'] as const

/** A key without a value (`levels:` and nothing more) says nothing. */
const may = <const T extends v.GenericSchema>(schema: T) => v.nullish(schema)

const levelName = v.pipe(
  text,
  v.regex(/^[A-Za-z][\w.-]{0,39}$/, ({ input }) =>
    say(`\`${input}\` is not a name`, 'letters, digits, `_`, `-` and `.`, a letter first, at most 40'),
  ),
  v.check(
    (name) => name !== 'compaction',
    say('`compaction` is where the agent compacts; no level can have that name', 'choose another name'),
  ),
)

const position = v.pipe(
  v.unknown(),
  v.check(
    (written) => parsePosition(written).ok,
    ({ input }) => {
      const parsed = parsePosition(input)
      return parsed.ok ? '' : say(parsed.reason, parsed.hint)
    },
  ),
)

const action = v.custom<string>(
  (written) => typeof written === 'string' && (isPlainAction(written) || /^(?:web)?hook:[^\s:]+$/.test(written)),
  ({ input }) => {
    if (typeof input !== 'string') return say(`expected an action, got ${shown(input)}`, actionsHint(''))
    if (/^(?:web)?hook:?\s*$/.test(input))
      return say(`\`${input}\` names no hook`, `write \`${input.replace(/:?\s*$/, '')}:<name>\``)
    return say(`there is no action \`${input}\``, actionsHint(input))
  },
)

function isPlainAction(written: string): boolean {
  return (PLAIN_ACTIONS as readonly string[]).includes(written)
}

function actionsHint(written: string): string {
  const nearest = nearestName(written, PLAIN_ACTIONS)
  return nearest ? `did you mean \`${nearest}\`?` : `actions: ${PLAIN_ACTIONS.join(', ')}, hook:<name>, webhook:<name>`
}

const regularExpression = v.pipe(
  text,
  v.check(
    (written) => whyNoPattern(written) === null,
    ({ input }) =>
      say(
        `is not a regular expression: ${whyNoPattern(input)}`,
        'write it in single quotes, with `\\` before characters that stand for themselves',
      ),
  ),
)

function whyNoPattern(written: string): string | null {
  try {
    new RegExp(written, 'u')
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const address = v.pipe(
  text,
  v.regex(/^https?:\/\/\S+$/, ({ input }) => say(`\`${input}\` is not a web address`, 'begin with `https://` or `http://`')),
)

const reviewTime = v.union([figure({ least: 0, example: 30 }), v.literal('approval')], ({ input }) =>
  say(
    `expected a whole number of seconds or \`approval\`, got ${shown(input)}`,
    'write `30`, or `approval` to wait until somebody says yes',
  ),
)

const level = mapOf({ name: levelName, at: may(position), actions: may(setOf(action)), mode: may(oneOf(MODES, 'mode')) })

/** What may be said for some sessions only. */
const policyKeys = {
  enabled: may(yesNo),
  presets: may(setOf(oneOf(PRESET_NAMES, 'preset'))),
  levels: may(listOf(level)),
  compaction: may(oneOf(['allow', 'instruct', 'block-and-hand-off'], 'way with compactions')),
  must_survive: may(listOf(text)),
  handoff: may(
    mapOf({
      mode: may(oneOf(['auto', 'ask', 'off'], 'mode')),
      review_seconds: may(reviewTime),
      bar: may(figure({ least: 0, most: 1, whole: false, example: 0.8 })),
      fork: may(yesNo),
    }),
  ),
  guards: may(
    mapOf({
      min_new_tokens: may(figure({ least: 0, example: 20_000 })),
      max_unattended_per_hour: may(figure({ least: 0, example: 6 })),
      cooldown_seconds: may(figure({ least: 0, example: 60 })),
      breaker_after: may(figure({ least: 1, example: 3 })),
    }),
  ),
  archive: may(
    mapOf({
      enabled: may(yesNo),
      at: may(setOf(oneOf(['pre-compact', 'handoff', 'session-end'], 'moment'))),
      keep_days: may(figure({ least: 1, example: 90 })),
      keep_bytes: may(figure({ least: 1, example: 10_000_000_000 })),
      redact: may(listOf(regularExpression)),
    }),
  ),
}

const patterns = v.union([text, listOf(text)], ({ input }) =>
  say(`expected a pattern or a list of patterns, got ${shown(input)}`),
)

const override = mapOf({
  when: v.pipe(
    mapOf({ agent: may(patterns), project: may(patterns), model: may(patterns), seat: may(patterns) }),
    v.check(
      (when) => Object.values(when).some((value) => value !== null && value !== undefined),
      say('says for nobody when the override applies', 'name at least one of `agent`, `project`, `model`, `seat`'),
    ),
  ),
  ...policyKeys,
})

const everyHook = {
  name: may(text),
  on_events: may(setOf(oneOf(HOOK_EVENTS, 'event'))),
  when: may(text),
  continue_on_error: may(yesNo),
  timeout: may(figure({ least: 1, example: 30_000 })),
}
const everyChat = { channel_id: text, bot_token_env: may(text), base_url: may(address), username: may(text) }

const hook = variantOf(
  [
    v.object({ type: v.literal('shell'), command: text, ...everyHook }, mapMessage),
    v.object(
      {
        type: v.literal('webhook'),
        url: address,
        method: may(oneOf(['POST', 'PUT'], 'method')),
        headers: may(named(text)),
        ...everyHook,
      },
      mapMessage,
    ),
    v.object({ type: v.literal('slack'), icon_emoji: may(text), ...everyChat, ...everyHook }, mapMessage),
    v.object({ type: v.literal('discord'), avatar_url: may(address), ...everyChat, ...everyHook }, mapMessage),
  ],
  ({ input }) => {
    const known = ['shell', 'webhook', 'slack', 'discord']
    if (input === undefined) return say('is missing', `write ${known.map((name) => `\`${name}\``).join(', ')}`)
    const nearest = typeof input === 'string' ? nearestName(input, known) : null
    return say(
      `there is no type of hook ${typeof input === 'string' ? `\`${input}\`` : shown(input)}`,
      nearest ? `did you mean \`${nearest}\`?` : `types: ${known.join(', ')}`,
    )
  },
)

const notifyTarget = v.union(
  [oneOf(['bell', 'desktop'], 'notice'), mapOf({ command: text }), mapOf({ webhook: address })],
  ({ input }) => say(`${shown(input)} is no way to notify`, 'write `bell`, `desktop`, `{command: …}` or `{webhook: https://…}`'),
)

const above0 = (example: number) => may(figure({ least: 1, example }))
const money = may(figure({ least: 0, whole: false, example: 3 }))
const percentage = may(figure({ least: 1, most: 100, whole: false, example: 50 }))

/** The one schema of the user's and the project's file, and of what a command line says. */
export const configSchema = mapOf({
  ...policyKeys,
  context_monitor: may(mapOf({ enabled: may(yesNo), warning_percentage: percentage, critical_percentage: percentage })),
  notify: may(listOf(notifyTarget)),
  budgets: may(
    mapOf({
      usd: may(figure({ least: 0.01, whole: false, example: 5 })),
      tokens: above0(2_000_000),
      turns: above0(200),
      minutes: above0(240),
    }),
  ),
  limits: may(mapOf({ jobs: above0(4), jobs_per_agent: above0(1) })),
  prices: may(named(mapOf({ input: money, output: money, cache_creation: money, cache_read: money }))),
  hooks: may(named(hook)),
  overrides: may(listOf(override)),
  agents: may(named(looseMap())),
})

export type Written = v.InferOutput<typeof configSchema>
export type WrittenPolicy = Pick<Written, keyof typeof policyKeys>
export type WrittenLevel = v.InferOutput<typeof level>
