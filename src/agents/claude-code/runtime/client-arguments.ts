import type { SessionOptions } from '../../../contract/runtime.js'

/** Without this variable the client reports neither when it is idle nor its background tasks. */
export const CLIENT_ENVIRONMENT = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' }

/** Returns the settings of one session, which outrank all files. Null when there are none. */
export function sessionSettings(sessionOptions: SessionOptions): Record<string, unknown> | null {
  return sessionOptions.compacts ? null : NO_COMPACTION_SETTINGS
}

export const NO_COMPACTION_SETTINGS = { autoCompactEnabled: false }

/** Returns the command line of a session that is controlled by lines of JSON. */
export function clientArguments(sessionOptions: SessionOptions): string[] {
  const settings = sessionSettings(sessionOptions)
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--input-format',
    'stream-json',
    // The end of an answer is reported only with partial messages.
    '--include-partial-messages',
    ...beginning(sessionOptions),
    ...option('--model', sessionOptions.model),
    ...option('--permission-mode', sessionOptions.permissionMode),
    ...(sessionOptions.permissionMode === 'bypassPermissions' ? ['--allow-dangerously-skip-permissions'] : []),
    ...option('--allowedTools', sessionOptions.allowedTools?.join(',')),
    ...option('--disallowedTools', sessionOptions.disallowedTools?.join(',')),
    ...option('--max-turns', sessionOptions.maxTurns),
    ...option('--max-budget-usd', sessionOptions.maxBudgetUsd),
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

/** Formats an option as one word, so that no value is parsed as an option. */
function option(name: string, value: string | number | null | undefined): string[] {
  return value === null || value === undefined || value === '' ? [] : [`${name}=${value}`]
}
