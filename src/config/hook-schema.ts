import * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'
import {
  address,
  describeValue,
  mapByName,
  mapMessage,
  numberIn,
  oneOf,
  optional,
  setOf,
  text,
  trueOrFalse,
  variantOf,
  withHint,
} from './value-kinds.js'

const HOOK_EVENTS = ['completed', 'failed', 'timeout', 'cancelled', 'context_threshold', 'session_start'] as const

/** A URL. The whole URL may come from a variable, because all of it may be a secret. */
const filledAddress = v.pipe(
  text,
  v.regex(/^(?:https?:\/\/\S|\$\{[A-Za-z_]\w*\})\S*$/, ({ input }) =>
    withHint(`\`${input}\` is not a URL`, `begin with \`https://\`, \`http://\` or a variable such as \`\${NAME}\``),
  ),
)

const everyHook = {
  name: optional(text),
  on_events: optional(setOf(oneOf(HOOK_EVENTS, 'event'))),
  when: optional(text),
  continue_on_error: optional(trueOrFalse),
  timeout: optional(numberIn({ least: 1, example: 30_000 })),
}
const everyChat = {
  channel_id: text,
  bot_token_env: optional(text),
  base_url: optional(address),
  username: optional(text),
}

export const hook = variantOf(
  [
    v.object({ type: v.literal('shell'), command: text, ...everyHook }, mapMessage),
    v.object(
      {
        type: v.literal('webhook'),
        url: filledAddress,
        method: optional(oneOf(['POST', 'PUT'], 'method')),
        headers: optional(mapByName(text)),
        ...everyHook,
      },
      mapMessage,
    ),
    v.object({ type: v.literal('slack'), icon_emoji: optional(text), ...everyChat, ...everyHook }, mapMessage),
    v.object({ type: v.literal('discord'), avatar_url: optional(address), ...everyChat, ...everyHook }, mapMessage),
  ],
  ({ input }) => {
    const known = ['shell', 'webhook', 'slack', 'discord']
    if (input === undefined) return withHint('is missing', `write ${known.map((name) => `\`${name}\``).join(', ')}`)
    const nearest = typeof input === 'string' ? nearestName(input, known) : null
    return withHint(
      `unknown hook type ${typeof input === 'string' ? `\`${input}\`` : describeValue(input)}`,
      nearest ? `did you mean \`${nearest}\`?` : `known types: ${known.join(', ')}`,
    )
  },
)
