import type { ProcessIdentity } from '../../lib/process-info.js'
import { argsOf } from './command-line.js'
import { withoutClient } from './environment.js'
import { list, object, parseObject, text } from './fields.js'
import { readFlag } from './settings.js'

export interface ForkOf {
  sessionId: string
  /** The process that runs the session; null: it is not known, or gone. */
  client: ProcessIdentity | null
  /** The folder the session was begun in: the client looks for its transcript by it. */
  folder: string
}

/** A denied tool may be followed by the answer; a second one is not waited for. */
const MOST_REQUESTS = 2

const REFUSED = 'This copy of the session is for its brief alone: no tools. Answer with the brief.'

/**
 * The arguments with which a client answers one prompt, given on its stdin, as a fork of a session would: nothing is written to disk, no
 * tool runs, and nothing is compacted. Tools are refused rather than left out, so that the conversation stays as it was.
 */
export function forkArguments({ sessionId, client }: ForkOf, settingsFile: string): string[] {
  const own = argsOf(client)
  return [
    ...['-p', '--output-format=json', `--resume=${sessionId}`, '--fork-session', '--no-session-persistence'],
    ...[`--max-turns=${MOST_REQUESTS}`, '--permission-mode=default'],
    ...(own.model === undefined ? [] : [`--model=${own.model}`]),
    ...(own.settingSources === undefined ? [] : [`--setting-sources=${own.settingSources.join(',')}`]),
    ...(own.betas === undefined ? [] : [`--betas=${own.betas.join(',')}`]),
    `--settings=${settingsFile}`,
  ]
}

/** The session's own, with what makes a fork of it. They may hold secrets: for a file of the user's alone, and no command line. */
export function forkSettings({ client, folder }: ForkOf): Record<string, unknown> {
  const { settings } = argsOf(client)
  const theirs = settings === undefined ? {} : (readFlag(settings, folder) ?? {})
  const hooks = object(theirs.hooks) ?? {}
  const refuse = { matcher: '*', hooks: [{ type: 'command', command: `echo '${REFUSED}' >&2; exit 2` }] }
  return {
    ...theirs,
    hooks: { ...hooks, PreToolUse: [refuse, ...list(hooks.PreToolUse)] },
    ...{ disableAllHooks: false, autoCompactEnabled: false },
  }
}

/** Of a client that is neither in a terminal nor a seat's, and in which Baton's own hooks are silent. */
export function forkEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const { TMUX: _, TMUX_PANE: __, ...left } = withoutClient(env)
  return { ...left, BATON_DISABLE: '1' }
}

/** What the client printed: its answer, or why there is none. */
export function forkAnswer(printed: string): { answer: string | null; why: string } {
  const result = parseObject(printed.trim())
  if (result === null) return { answer: null, why: 'the client said nothing that could be read' }
  const subtype = text(result.subtype) ?? ''
  if (subtype === 'error_max_turns') return { answer: null, why: 'it went on with tools instead' }
  if (result.is_error === true || subtype !== 'success') return { answer: null, why: 'the client told of an error' }
  return { answer: text(result.result), why: 'its answer holds no brief' }
}
