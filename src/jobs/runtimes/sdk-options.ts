import { settingsOf } from './client-arguments.js'
import { HOOK_TIMEOUT_S, HOOKS } from './client-hooks.js'
import type { SessionWish } from './runtime.js'

/** What the SDK would start. */
export interface SpawnCall {
  command: string
  args: string[]
  env: Record<string, string | undefined>
}

export interface OptionsInput {
  wish: SessionWish
  env: Record<string, string>
  binary: string | null
  spawn(call: SpawnCall): unknown
  hook(input: unknown): Promise<unknown>
}

/** The options of `query()` that make the same session as the command line of the runtime `cli`. */
export function sdkOptions({ wish, env, binary, spawn, hook }: OptionsInput): Record<string, unknown> {
  const settings = settingsOf(wish)
  const append = wish.appendSystemPrompt
  return {
    ...beginning(wish),
    cwd: wish.cwd,
    env,
    ...(binary === null ? {} : { pathToClaudeCodeExecutable: binary }),
    spawnClaudeCodeProcess: spawn,
    includePartialMessages: true,
    systemPrompt: { type: 'preset', preset: 'claude_code', ...(append ? { append } : {}) },
    settingSources: ['user', 'project', 'local'],
    hooks: Object.fromEntries(
      HOOKS.map(({ event, matcher }) => [
        event,
        [{ ...(matcher === null ? {} : { matcher }), timeout: HOOK_TIMEOUT_S, hooks: [hook] }],
      ]),
    ),
    ...(wish.model === null ? {} : { model: wish.model }),
    ...(wish.permissionMode === null ? {} : { permissionMode: wish.permissionMode }),
    ...(wish.permissionMode === 'bypassPermissions' ? { allowDangerouslySkipPermissions: true } : {}),
    ...(wish.allowedTools === null ? {} : { allowedTools: wish.allowedTools }),
    ...(wish.disallowedTools === null ? {} : { disallowedTools: wish.disallowedTools }),
    ...(wish.maxTurns === null ? {} : { maxTurns: wish.maxTurns }),
    ...(wish.maxBudgetUsd === null ? {} : { maxBudgetUsd: wish.maxBudgetUsd }),
    ...(settings === null ? {} : { settings }),
  }
}

function beginning({ begin, sessionId }: SessionWish): Record<string, unknown> {
  if (begin.how === 'fresh') return { sessionId }
  if (begin.how === 'resume') return { resume: sessionId }
  return { resume: begin.from, forkSession: true, sessionId, ...(begin.at === null ? {} : { resumeSessionAt: begin.at }) }
}
