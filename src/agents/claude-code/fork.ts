import type { ProcessIdentity } from '../../lib/process-info.js'
import { isAlive, processOfThisUser } from '../../lib/process-info.js'
import { environmentOfProcess, executableAndArguments } from '../../lib/process-place.js'
import type { ForkableClient, ForkSource } from '../agent.js'
import { readClientArguments } from './command-line.js'
import { withoutClientVariables } from './environment.js'
import { asList, asObject, asText, parseObject } from './fields.js'
import { readRegisteredClient } from './registry.js'
import { configDirFromEnvironment, readSettingsFlag } from './settings/read-settings.js'

/**
 * Returns the client that shows a session.
 * The process in a signal is only a hint.
 * The process is accepted if it is this user's and the client's own registry confirms the session.
 * Program, environment and folder are then read from the process, never from a signal.
 * Returns a half sentence as a string when there is no such client.
 */
export function forkableClient(hint: ProcessIdentity | null, sessionId: string): ForkableClient | string {
  if (hint === null || !isAlive(hint) || processOfThisUser(hint.pid) === null) return 'its client no longer runs'
  const environment = environmentOfProcess(hint.pid)
  // With another environment, the client might send the conversation elsewhere or use another key.
  if (environment === null) return 'the environment of its client is unknown'
  const configDir = configDirFromEnvironment(environment)
  const listed = configDir === null ? null : readRegisteredClient(configDir, hint.pid)
  if (listed?.sessionId !== sessionId || listed.cwd === null) return "the client's registry does not list its process"
  const program = executableAndArguments(hint.pid)
  if (program === null) return 'the program of its client is unknown, or was replaced after its start'
  return { program, environment, folder: listed.cwd }
}

/**
 * Maximum number of requests to the model. An answer may follow one denied tool, but not a second.
 */
const MOST_REQUESTS = 2

const REFUSED = 'This copy of the session only writes its brief, without tools. Answer with the brief.'

/**
 * Returns the arguments for a client that answers one prompt on its stdin as a fork of a session.
 * A client with these arguments writes nothing to disk, runs no tool and compacts nothing.
 * Tools are refused instead of removed, so that the conversation's prefix stays the same.
 */
export function forkArguments({ sessionId, client }: ForkSource, settingsFile: string): string[] {
  const own = readClientArguments(client)
  return [
    '-p',
    '--output-format=json',
    `--resume=${sessionId}`,
    '--fork-session',
    '--no-session-persistence',
    `--max-turns=${MOST_REQUESTS}`,
    '--permission-mode=default',
    ...(own.model === undefined ? [] : [`--model=${own.model}`]),
    ...(own.settingSources === undefined ? [] : [`--setting-sources=${own.settingSources.join(',')}`]),
    ...(own.betas === undefined ? [] : [`--betas=${own.betas.join(',')}`]),
    `--settings=${settingsFile}`,
  ]
}

/**
 * Returns the session's settings, merged with those of a fork.
 * The settings may hold secrets, so they belong in a private file, not on a command line.
 */
export function forkSettings({ client, folder }: ForkSource): Record<string, unknown> {
  const { settings } = readClientArguments(client)
  const theirs = settings === undefined ? {} : (readSettingsFlag(settings, folder) ?? {})
  const hooks = asObject(theirs.hooks) ?? {}
  const refuse = { matcher: '*', hooks: [{ type: 'command', command: `echo '${REFUSED}' >&2; exit 2` }] }
  return {
    ...theirs,
    hooks: { ...hooks, PreToolUse: [refuse, ...asList(hooks.PreToolUse)] },
    disableAllHooks: false,
    autoCompactEnabled: false,
  }
}

/**
 * Returns an environment without terminal and BATON_SEAT, in which Baton's own hooks do nothing.
 */
export function forkEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const { TMUX: _, TMUX_PANE: __, ...rest } = withoutClientVariables(env)
  return { ...rest, BATON_DISABLE: '1' }
}

/** Reads what the forked client printed: its answer, or the reason why there is none. */
export function parseForkOutput(printed: string): { answer: string | null; why: string } {
  const result = parseObject(printed.trim())
  if (result === null) return { answer: null, why: 'the client printed nothing readable' }
  const subtype = asText(result.subtype) ?? ''
  if (subtype === 'error_max_turns') return { answer: null, why: 'it called tools instead' }
  if (result.is_error === true || subtype !== 'success') return { answer: null, why: 'the client reported an error' }
  return { answer: asText(result.result), why: 'its answer contains no brief' }
}
