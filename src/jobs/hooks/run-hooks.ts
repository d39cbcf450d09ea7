import type { HookEvent, HookSpec } from '../../contract/job.js'
import { reasonOf } from '../../lib/errors.js'
import { applies } from './applies.js'
import { tellDiscord } from './discord.js'
import { failed, type HookGround, type HookOutcome, type HookResult, type HookRun } from './hook-result.js'
import type { HookPayload } from './payloads.js'
import { fillNames, redactor } from './secrets.js'
import { runShell } from './shell.js'
import { tellSlack } from './slack.js'
import { callWebhook } from './webhook.js'

type Way<T extends HookSpec['type']> = (
  hook: Extract<HookSpec, { type: T }>,
  payload: HookPayload,
  ground: HookGround,
) => Promise<HookOutcome>

const WAYS: { [T in HookSpec['type']]: Way<T> } = {
  shell: runShell,
  webhook: callWebhook,
  slack: tellSlack,
  discord: tellDiscord,
}

const MOST_COMPLAINT = 2_000

/** Runs those of a list that are meant for the event, one after the other. Never throws, and never lasts longer than their timeouts. */
export async function runHooks(
  hooks: readonly HookSpec[],
  event: HookEvent,
  payload: HookPayload,
  ground: HookGround,
): Promise<HookRun> {
  const results: HookResult[] = []
  // What one of them is trusted with another may print.
  const redact = redactor(
    ground.env,
    hooks.flatMap((hook) => filledIn(hook, ground.env)),
  )
  for (const [index, hook] of hooks.entries()) {
    if (ground.signal?.aborted) break
    if (!applies(hook, event, payload)) continue
    const result = await runHook(hook, hook.name ?? `${hook.type} ${index + 1}`, payload, ground, redact)
    results.push(result)
    if (!result.ok && !hook.continueOnError) return { results, stoppedBy: result }
  }
  return { results, stoppedBy: null }
}

async function runHook(
  hook: HookSpec,
  name: string,
  payload: HookPayload,
  ground: HookGround,
  redact: (text: string) => string,
): Promise<HookResult> {
  const begun = performance.now()
  let outcome: HookOutcome
  try {
    outcome = await (WAYS[hook.type] as Way<HookSpec['type']>)(hook as never, payload, ground)
  } catch (error) {
    outcome = failed(reasonOf(error))
  }
  const { exitCode, output, error, complaint = '' } = outcome
  const why = [error, complaint].filter(Boolean).map((text) => redact(text!).slice(-MOST_COMPLAINT))
  return {
    ...{ name, type: hook.type, ok: error === null, durationMs: Math.round(performance.now() - begun), exitCode },
    output: redact(output),
    error: error === null ? null : why.join(': '),
  }
}

function filledIn(hook: HookSpec, env: HookGround['env']): string[] {
  if (hook.type === 'webhook') return [hook.url, ...Object.values(hook.headers)].flatMap((text) => fillNames(text, env).used)
  if (hook.type === 'shell') return []
  const token = env[hook.botTokenEnv ?? (hook.type === 'slack' ? 'SLACK_BOT_TOKEN' : 'DISCORD_BOT_TOKEN')]
  return token ? [token] : []
}
