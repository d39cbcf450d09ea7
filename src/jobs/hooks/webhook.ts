import type { HookSpec } from '../../contract/job.js'
import { failed, type HookGround, type HookOutcome } from './hook-result.js'
import type { HookPayload } from './payloads.js'
import { post, refusal } from './post.js'
import { fillNames } from './secrets.js'

/** The payload is the body of the request; the body of the reply is its answer. */
export async function callWebhook(
  hook: Extract<HookSpec, { type: 'webhook' }>,
  payload: HookPayload,
  ground: HookGround,
): Promise<HookOutcome> {
  const url = fillNames(hook.url, ground.env)
  const headers = Object.entries(hook.headers).map(([name, value]) => [name, fillNames(value, ground.env)] as const)
  const missing = [url, ...headers.map(([, filled]) => filled)].flatMap((filled) => filled.missing)
  if (missing.length > 0) return failed(`${missing.join(', ')}: not set in the environment`)
  if (!/^https?:\/\//i.test(url.text)) return failed('what stands for its address does not begin with https:// or http://')
  const reply = await post({
    url: url.text,
    method: hook.method,
    headers: Object.fromEntries(headers.map(([name, { text }]) => [name.toLowerCase(), text])),
    body: JSON.stringify(payload),
    timeoutMs: hook.timeoutMs,
    ...(ground.signal ? { signal: ground.signal } : {}),
  })
  return { exitCode: null, output: reply.body, error: refusal(reply) }
}
