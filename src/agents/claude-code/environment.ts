/** The variable that names the session to the commands that the agent runs. */
export const SESSION_VARIABLE = 'CLAUDE_CODE_SESSION_ID'

/** Variables of the client's environment that the hook program passes along. */
export const SIGNAL_VARIABLES = [
  'CLAUDE_PID',
  'CLAUDE_PROJECT_DIR',
  SESSION_VARIABLE,
  'CLAUDE_CODE_SESSION_ATTENDED',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CONFIG_DIR',
  'HOME',
  'AI_AGENT',
  'TMUX_PANE',
  'BATON_SEAT',
  'BATON_PARENT_SEAT',
  'BATON_JOB_ID',
  'BATON_ENABLED',
  'BATON_PRESETS',
  'NO_COLOR',
  'ANTHROPIC_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_DEFAULT_FABLE_MODEL',
  'DISABLE_AUTO_COMPACT',
  'DISABLE_COMPACT',
  'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE',
  'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
  'CLAUDE_CODE_MAX_CONTEXT_TOKENS',
  'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
  'CLAUDE_CODE_DISABLE_1M_CONTEXT',
] as const

/** Reads the version from a value such as `claude-code_2-1-325_harness`. */
export function parseClientVersion(aiAgent: string | undefined): string | null {
  const found = /^claude-code_(\d+(?:-\d+)*)(?:_|$)/.exec(aiAgent ?? '')
  return found?.[1]?.replaceAll('-', '.') ?? null
}

export function parsePid(value: string | undefined): number | null {
  const pid = Number(value)
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null
}

/**
 * Returns whether a user attends the session.
 * The terminal client sets 1, `-p` and SDK runs set 0. Older clients set only the entry point.
 */
export function isSessionAttended(env: Record<string, string>): boolean | null {
  if (env.CLAUDE_CODE_SESSION_ATTENDED === '1') return true
  if (env.CLAUDE_CODE_SESSION_ATTENDED === '0') return false
  return env.CLAUDE_CODE_ENTRYPOINT?.startsWith('sdk-') ? false : null
}

/**
 * Variables by which a client describes itself to its commands.
 * These variables must not reach another client started there.
 */
const OWN = [
  'CLAUDECODE',
  'CLAUDE_PID',
  'CLAUDE_PROJECT_DIR',
  'AI_AGENT',
  SESSION_VARIABLE,
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ATTENDED',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_ENV_FILE',
  'CLAUDE_EFFORT',
]

/** Returns an environment for another client, without the variables of this one. */
export function withoutClientVariables(env: Record<string, string | undefined>): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !OWN.includes(name))
  return Object.fromEntries(kept) as Record<string, string>
}
