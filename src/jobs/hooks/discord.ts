import type { HookSpec } from '../../contract/job.js'
import { chatText, cut } from './chat-text.js'
import { failed, type HookGround, type HookOutcome } from './hook-result.js'
import type { HookPayload } from './payloads.js'
import { post, refusal } from './post.js'

const BASE = 'https://discord.com/api/v10'
/** Discord's own bound. */
const MOST = 2_000

export async function tellDiscord(
  hook: Extract<HookSpec, { type: 'discord' }>,
  payload: HookPayload,
  ground: HookGround,
): Promise<HookOutcome> {
  const name = hook.botTokenEnv ?? 'DISCORD_BOT_TOKEN'
  const token = ground.env[name]
  if (!token) return failed(`${name}: not set in the environment`)
  const { title, body } = chatText(payload)
  const text = cut(body === '' ? title : `**${title}**\n${body}`, MOST)
  // A bot cannot write under another name; an embed has room for an author.
  const author = { name: hook.username, ...(hook.avatarUrl ? { icon_url: hook.avatarUrl } : {}) }
  const message = hook.username ? { embeds: [{ author, description: text }] } : { content: text }
  const reply = await post({
    url: `${(hook.baseUrl ?? BASE).replace(/\/+$/, '')}/channels/${encodeURIComponent(hook.channelId)}/messages`,
    method: 'POST',
    headers: { authorization: `Bot ${token}` },
    body: JSON.stringify({ ...message, allowed_mentions: { parse: [] } }),
    timeoutMs: hook.timeoutMs,
    ...(ground.signal ? { signal: ground.signal } : {}),
  })
  return { exitCode: null, output: reply.body, error: refusal(reply) }
}
