import type { SessionOptions } from '../../../contract/runtime.js'

/** Without these the client tells neither when it is idle nor what it still does in the background. */
export const CLIENT_ENVIRONMENT = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' }

/** The settings of one session, above all files; null: none. */
export function settingsOf(wish: SessionOptions): Record<string, unknown> | null {
  return wish.compacts ? null : NO_COMPACTION
}

export const NO_COMPACTION = { autoCompactEnabled: false }

/** The command line of a session that is spoken to in lines of JSON. */
export function clientArguments(wish: SessionOptions): string[] {
  const settings = settingsOf(wish)
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--input-format',
    'stream-json',
    // the end of an answer is told only with its pieces
    '--include-partial-messages',
    ...beginning(wish),
    ...option('--model', wish.model),
    ...option('--permission-mode', wish.permissionMode),
    ...(wish.permissionMode === 'bypassPermissions' ? ['--allow-dangerously-skip-permissions'] : []),
    ...option('--allowedTools', wish.allowedTools?.join(',')),
    ...option('--disallowedTools', wish.disallowedTools?.join(',')),
    ...option('--max-turns', wish.maxTurns),
    ...option('--max-budget-usd', wish.maxBudgetUsd),
    ...option('--settings', settings && JSON.stringify(settings)),
  ]
}

function beginning({ begin, sessionId }: SessionOptions): string[] {
  if (begin.how === 'fresh') return [`--session-id=${sessionId}`]
  if (begin.how === 'resume') return [`--resume=${sessionId}`]
  return [
    `--resume=${begin.from}`,
    '--fork-session',
    `--session-id=${sessionId}`,
    ...option('--resume-session-at', begin.at),
  ]
}

/** In one word, so that no value is taken for an option. */
function option(name: string, value: string | number | null | undefined): string[] {
  return value === null || value === undefined || value === '' ? [] : [`${name}=${value}`]
}
