import * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'
import {
  address,
  figure,
  mapMessage,
  may,
  named,
  oneOf,
  say,
  setOf,
  shown,
  text,
  variantOf,
  yesNo,
} from './value-kinds.js'

const HOOK_EVENTS = ['completed', 'failed', 'timeout', 'cancelled', 'context_threshold', 'session_start'] as const

/** The whole of it may be the secret. */
const filledAddress = v.pipe(
  text,
  v.regex(/^(?:https?:\/\/\S|\$\{[A-Za-z_]\w*\})\S*$/, ({ input }) =>
    say(
      `\`${input}\` is not a web address`,
      `begin with \`https://\` or \`http://\`, or with a variable: \`\${NAME}\``,
    ),
  ),
)

const everyHook = {
  name: may(text),
  on_events: may(setOf(oneOf(HOOK_EVENTS, 'event'))),
  when: may(text),
  continue_on_error: may(yesNo),
  timeout: may(figure({ least: 1, example: 30_000 })),
}
const everyChat = { channel_id: text, bot_token_env: may(text), base_url: may(address), username: may(text) }

export const hook = variantOf(
  [
    v.object({ type: v.literal('shell'), command: text, ...everyHook }, mapMessage),
    v.object(
      {
        type: v.literal('webhook'),
        url: filledAddress,
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
