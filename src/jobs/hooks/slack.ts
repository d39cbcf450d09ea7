import type { HookSpec } from '../../contract/job.js'
import { chatText, cut } from './chat-text.js'
import { failed, type HookGround, type HookOutcome } from './hook-result.js'
import type { HookPayload } from './payloads.js'
import { post, refusal } from './post.js'

const BASE = 'https://slack.com/api'
const MOST = 3_000

export async function tellSlack(
  hook: Extract<HookSpec, { type: 'slack' }>,
  payload: HookPayload,
  ground: HookGround,
): Promise<HookOutcome> {
  const name = hook.botTokenEnv ?? 'SLACK_BOT_TOKEN'
  const token = ground.env[name]
  if (!token) return failed(`${name}: not set in the environment`)
  const { title, body } = chatText(payload)
  const text = body === '' ? plain(title) : `*${plain(title)}*\n${plain(cut(body, MOST))}`
  const reply = await post({
    url: `${(hook.baseUrl ?? BASE).replace(/\/+$/, '')}/chat.postMessage`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      channel: hook.channelId,
      text,
      ...(hook.username ? { username: hook.username } : {}),
      ...(hook.iconEmoji ? { icon_emoji: hook.iconEmoji } : {}),
    }),
    timeoutMs: hook.timeoutMs,
    ...(ground.signal ? { signal: ground.signal } : {}),
  })
  return { exitCode: null, output: reply.body, error: refusal(reply) ?? troubleIn(reply.body) }
}

/** Slack answers 200 to what it refuses too. */
function troubleIn(body: string): string | null {
  try {
    const { ok, error } = JSON.parse(body) as { ok?: unknown; error?: unknown }
    return ok === true ? null : `Slack says ${typeof error === 'string' ? error : 'no'}`
  } catch {
    return 'the answer is not one of Slack'
  }
}

/** An agent's words must not call the whole channel. */
function plain(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
