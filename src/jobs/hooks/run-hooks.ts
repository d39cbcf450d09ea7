import type { HookEvent, HookSpec } from '../../contract/records/job.js'
import { reasonOf } from '../../lib/errors.js'
import { httpPost, refusalReason } from '../../lib/http-post.js'
import { runCommand } from '../../lib/run-command.js'
import { chatText, cutChatText } from './chat-text.js'
import { failedHook, type HookContext, type HookOutcome, type HookResult, type HookRun } from './hook-result.js'
import type { HookPayload } from './payloads.js'
import { appliesTo } from './select-hooks.js'

type HookRunner<T extends HookSpec['type']> = (
  hook: Extract<HookSpec, { type: T }>,
  payload: HookPayload,
  context: HookContext,
) => Promise<HookOutcome>

const RUNNERS: { [T in HookSpec['type']]: HookRunner<T> } = {
  shell: runShell,
  webhook: callWebhook,
  slack: sendToSlack,
  discord: sendToDiscord,
}

const MAX_ERROR_OUTPUT = 2_000

/**
 * Runs the hooks of a list that are meant for the event, in order.
 * Never throws, and never takes longer than the hooks' timeouts.
 */
export async function runHooks(
  hooks: readonly HookSpec[],
  event: HookEvent,
  payload: HookPayload,
  context: HookContext,
): Promise<HookRun> {
  const results: HookResult[] = []
  // A hook may print secrets that another hook was given, so redact them all.
  const redact = makeRedactor(
    context.env,
    hooks.flatMap((hook) => secretsFilledIn(hook, context.env)),
  )
  for (const [index, hook] of hooks.entries()) {
    if (context.signal?.aborted) break
    if (!appliesTo(hook, event, payload)) continue
    const result = await runHook(hook, hook.name ?? `${hook.type} ${index + 1}`, payload, context, redact)
    results.push(result)
    if (!result.ok && !hook.continueOnError) return { results, stoppedBy: result }
  }
  return { results, stoppedBy: null }
}

async function runHook(
  hook: HookSpec,
  name: string,
  payload: HookPayload,
  context: HookContext,
  redact: (text: string) => string,
): Promise<HookResult> {
  const begun = performance.now()
  let outcome: HookOutcome
  try {
    outcome = await (RUNNERS[hook.type] as HookRunner<HookSpec['type']>)(hook as never, payload, context)
  } catch (error) {
    outcome = failedHook(reasonOf(error))
  }
  const { exitCode, output, error, errorOutput: complaint = '' } = outcome
  const why = [error, complaint].filter(Boolean).map((text) => redact(text!).slice(-MAX_ERROR_OUTPUT))
  return {
    name,
    type: hook.type,
    ok: error === null,
    durationMs: Math.round(performance.now() - begun),
    exitCode,
    output: redact(output),
    error: error === null ? null : why.join(': '),
  }
}

function secretsFilledIn(hook: HookSpec, env: HookContext['env']): string[] {
  if (hook.type === 'webhook')
    return [hook.url, ...Object.values(hook.headers)].flatMap((text) => fillVariables(text, env).used)
  if (hook.type === 'shell') return []
  const token = env[hook.botTokenEnv ?? (hook.type === 'slack' ? 'SLACK_BOT_TOKEN' : 'DISCORD_BOT_TOKEN')]
  return token ? [token] : []
}

const HALF = 512 * 1024

/** Runs a shell hook. The payload is its stdin, its stdout is the answer. */
async function runShell(
  hook: Extract<HookSpec, { type: 'shell' }>,
  payload: HookPayload,
  context: HookContext,
): Promise<HookOutcome> {
  const end = await runCommand({
    command: hook.command,
    cwd: context.cwd,
    env: { ...context.env, BATON_JOB_ID: context.jobId },
    input: escapeForShells(JSON.stringify(payload)),
    timeoutMs: hook.timeoutMs,
    keep: { head: HALF, tail: HALF },
    ...(context.signal ? { signal: context.signal } : {}),
    ...(context.graceMs === undefined ? {} : { graceMs: context.graceMs }),
  })
  if (end.trouble) return failedHook(`could not be started: ${end.trouble}`)
  if (end.timedOut) return failedHook(`did not end within ${hook.timeoutMs} ms and was killed`, end.stdout)
  if (end.stopped) return failedHook('was killed with the job', end.stdout)
  if (end.exitCode === 0) return { exitCode: 0, output: end.stdout, error: null }
  const how = end.exitCode === null ? `was killed by ${end.endedBy}` : `exited with ${end.exitCode}`
  return { ...failedHook(how, end.stdout, end.exitCode), errorOutput: end.stderr.trim() }
}

/**
 * Escapes JSON so that it survives `PAYLOAD=$(cat); echo "$PAYLOAD" | jq …`, as many hooks do.
 * The echo of some /bin/sh turns `\n` into a newline and `\\` into one backslash, not `\u000a`.
 */
function escapeForShells(json: string): string {
  return json.replace(/\\(["\\bfnrt])/g, (pair) => {
    const code = (JSON.parse(`"${pair}"`) as string).charCodeAt(0)
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** Calls a webhook. The payload is the request body, the reply's body is the answer. */
async function callWebhook(
  hook: Extract<HookSpec, { type: 'webhook' }>,
  payload: HookPayload,
  context: HookContext,
): Promise<HookOutcome> {
  const url = fillVariables(hook.url, context.env)
  const headers = Object.entries(hook.headers).map(
    ([name, value]) => [name, fillVariables(value, context.env)] as const,
  )
  const missing = [url, ...headers.map(([, filled]) => filled)].flatMap((filled) => filled.missing)
  if (missing.length > 0) return failedHook(`${missing.join(', ')}: not set in the environment`)
  if (!/^https?:\/\//i.test(url.text)) return failedHook('the value of its url does not begin with https:// or http://')
  const reply = await httpPost({
    url: url.text,
    method: hook.method,
    headers: Object.fromEntries(headers.map(([name, { text }]) => [name.toLowerCase(), text])),
    body: JSON.stringify(payload),
    timeoutMs: hook.timeoutMs,
    ...(context.signal ? { signal: context.signal } : {}),
  })
  return { exitCode: null, output: reply.body, error: refusalReason(reply) }
}

const SLACK_API = 'https://slack.com/api'
const LONGEST_SLACK_TEXT = 3_000

async function sendToSlack(
  hook: Extract<HookSpec, { type: 'slack' }>,
  payload: HookPayload,
  context: HookContext,
): Promise<HookOutcome> {
  const name = hook.botTokenEnv ?? 'SLACK_BOT_TOKEN'
  const token = context.env[name]
  if (!token) return failedHook(`${name}: not set in the environment`)
  const { title, body } = chatText(payload)
  const text =
    body === ''
      ? escapeForSlack(title)
      : `*${escapeForSlack(title)}*\n${escapeForSlack(cutChatText(body, LONGEST_SLACK_TEXT))}`
  const reply = await httpPost({
    url: `${(hook.baseUrl ?? SLACK_API).replace(/\/+$/, '')}/chat.postMessage`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      channel: hook.channelId,
      text,
      ...(hook.username ? { username: hook.username } : {}),
      ...(hook.iconEmoji ? { icon_emoji: hook.iconEmoji } : {}),
    }),
    timeoutMs: hook.timeoutMs,
    ...(context.signal ? { signal: context.signal } : {}),
  })
  return { exitCode: null, output: reply.body, error: refusalReason(reply) ?? findSlackError(reply.body) }
}

/** Returns the error in a reply of Slack, which answers 200 even when it refuses. */
function findSlackError(body: string): string | null {
  try {
    const { ok, error } = JSON.parse(body) as { ok?: unknown; error?: unknown }
    return ok === true ? null : `Slack answered with the error ${typeof error === 'string' ? error : 'unknown'}`
  } catch {
    return 'the answer is not valid for Slack'
  }
}

/** Escapes mentions, so that an agent's text cannot notify the whole channel. */
function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const DISCORD_API = 'https://discord.com/api/v10'
/** Discord's own limit for the length of a message. */
const LONGEST_DISCORD_TEXT = 2_000

async function sendToDiscord(
  hook: Extract<HookSpec, { type: 'discord' }>,
  payload: HookPayload,
  context: HookContext,
): Promise<HookOutcome> {
  const name = hook.botTokenEnv ?? 'DISCORD_BOT_TOKEN'
  const token = context.env[name]
  if (!token) return failedHook(`${name}: not set in the environment`)
  const { title, body } = chatText(payload)
  const text = cutChatText(body === '' ? title : `**${title}**\n${body}`, LONGEST_DISCORD_TEXT)
  // A bot cannot write under another name, but an embed has an author field.
  const author = { name: hook.username, ...(hook.avatarUrl ? { icon_url: hook.avatarUrl } : {}) }
  const message = hook.username ? { embeds: [{ author, description: text }] } : { content: text }
  const reply = await httpPost({
    url: `${(hook.baseUrl ?? DISCORD_API).replace(/\/+$/, '')}/channels/${encodeURIComponent(hook.channelId)}/messages`,
    method: 'POST',
    headers: { authorization: `Bot ${token}` },
    body: JSON.stringify({ ...message, allowed_mentions: { parse: [] } }),
    timeoutMs: hook.timeoutMs,
    ...(context.signal ? { signal: context.signal } : {}),
  })
  return { exitCode: null, output: reply.body, error: refusalReason(reply) }
}

const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL|PRIVATE_KEY|(?:^|_)KEY$/i
/** Names of counts, as CLAUDE_CODE_MAX_OUTPUT_TOKENS, which are no secrets. */
const COUNT_NAME = /TOKENS$/i
/** Minimum length of a redacted value. Shorter values are ordinary words or numbers. */
const MIN_SECRET_LENGTH = 4
/** Minimum length of a value that is redacted only because of its variable's name. */
const MIN_NAMED_SECRET_LENGTH = 8

type Env = Record<string, string | undefined>

/**
 * Replaces `${NAME}` in a text by the environment's values.
 * `missing` lists names that are not set. The text must not be used if there are any.
 */
function fillVariables(text: string, env: Env): { text: string; used: string[]; missing: string[] } {
  const used: string[] = []
  const missing: string[] = []
  const filled = text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    const value = env[name]
    if (value === undefined || value === '') missing.push(name)
    else used.push(value)
    return value ?? ''
  })
  return { text: filled, used, missing }
}

/**
 * Returns a function that redacts filled-in values and all values of variables with secret names.
 */
export function makeRedactor(env: Env, used: readonly string[]): (text: string) => string {
  const bySize = (a: string, b: string) => b.length - a.length
  const named = Object.entries(env).flatMap(([name, value]) => (value && isSecret(name, value) ? [value] : []))
  const values = [...used.filter(({ length }) => length >= MIN_SECRET_LENGTH), ...named]
  const forms = values.flatMap((value) => [
    value,
    encodeURIComponent(value),
    Buffer.from(value).toString('base64'),
    JSON.stringify(value).slice(1, -1),
  ])
  const found = [...new Set(forms)].sort(bySize)
  return (text) => found.reduce((left, value) => left.replaceAll(value, '[secret]'), text)
}

function isSecret(name: string, value: string): boolean {
  return (
    SECRET_NAME.test(name) && !COUNT_NAME.test(name) && value.length >= MIN_NAMED_SECRET_LENGTH && !/^\d+$/.test(value)
  )
}
