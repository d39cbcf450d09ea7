import type { HookSpec, JobHooks } from '../contract/job.js'
import type { WrittenAgent, WrittenHook } from './agent-schema.js'
import type { CompiledConfig } from './compiled.js'

const TIMEOUT_MS = 30_000

type Entries = NonNullable<NonNullable<WrittenAgent['hooks']>['after_run']>

/** The hooks of an agent; those it only names are taken from the file's own `hooks`. */
export function resolveHooks(written: WrittenAgent['hooks'], named: CompiledConfig['hooks']): JobHooks {
  // The check of the file has seen to it that every name is there.
  const list = (entries: Entries | null | undefined): HookSpec[] =>
    (entries ?? []).flatMap((entry) => {
      const hook = typeof entry === 'string' ? (named[entry] as WrittenHook | undefined) : entry
      return hook ? [specOf(hook, typeof entry === 'string' ? entry : null)] : []
    })
  return {
    onContextThreshold: list(written?.on_context_threshold),
    onSessionStart: list(written?.on_session_start),
    afterRun: list(written?.after_run),
    onError: list(written?.on_error),
  }
}

/** Those that the actions of a level name. */
export function hooksOfActions(actions: readonly string[], named: CompiledConfig['hooks']): HookSpec[] {
  return actions.flatMap((action) => {
    const [, name] = /^(?:hook|webhook):(.+)$/.exec(action) ?? []
    const hook = name === undefined ? undefined : (named[name] as WrittenHook | undefined)
    return hook ? [specOf(hook, name!)] : []
  })
}

function specOf(hook: WrittenHook, name: string | null): HookSpec {
  const base = {
    name: hook.name ?? name,
    onEvents: hook.on_events ?? null,
    when: hook.when ?? null,
    continueOnError: hook.continue_on_error ?? true,
    timeoutMs: hook.timeout ?? TIMEOUT_MS,
  }
  switch (hook.type) {
    case 'shell':
      return { ...base, type: 'shell', command: hook.command }
    case 'webhook':
      return { ...base, type: 'webhook', url: hook.url, method: hook.method ?? 'POST', headers: hook.headers ?? {} }
    case 'slack':
      return { ...base, type: 'slack', ...chatOf(hook), iconEmoji: hook.icon_emoji ?? null }
    case 'discord':
      return { ...base, type: 'discord', ...chatOf(hook), avatarUrl: hook.avatar_url ?? null }
  }
}

function chatOf(hook: Extract<WrittenHook, { type: 'slack' | 'discord' }>) {
  return {
    channelId: hook.channel_id,
    botTokenEnv: hook.bot_token_env ?? null,
    baseUrl: hook.base_url ?? null,
    username: hook.username ?? null,
  }
}
