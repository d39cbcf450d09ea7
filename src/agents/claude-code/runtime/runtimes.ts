import type { JobSpec } from '../../../contract/records/job.js'
import type { AgentRuntimes } from '../../agent.js'
import { configDirOf, readSettings } from '../settings/read-settings.js'
import { cliRuntime } from './cli-runtime.js'
import { openSdkRuntime } from './sdk-runtime.js'

export const claudeCodeRuntimes: AgentRuntimes = {
  async open(name, { project, binary, ...log }) {
    // The Agent SDK brings a client of its own.
    return name === 'sdk' ? openSdkRuntime({ project, binary: null, ...log }) : cliRuntime({ binary, ...log })
  },
  deniedEdits,
}

/** Modes in which the client makes edits without asking. */
const ALLOWING = new Set(['acceptEdits', 'auto', 'bypassPermissions'])
/** A permission rule of the client that allows edits: `Edit`, `Write(src/**)`. */
const EDIT_RULE = /^(?:Edit|Write|MultiEdit|NotebookEdit)(?:\(|$)/

/**
 * The warning before a job whose edits will be denied starts; null where they are allowed. Without a mode of its
 * own the
 * client takes the one of its settings. Rules that allow edits, of the job or of the settings, count in every
 * mode but `plan`.
 */
export function deniedEdits(
  { permissionMode, allowedTools, runtime, folder }: JobSpec,
  env: Record<string, string | undefined>,
): string | null {
  if (runtime === 'scripted') return null
  const named = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const settings = readSettings({ configDir: configDirOf(Object.fromEntries(named)), project: folder, cwd: folder })
  const mode = permissionMode ?? settings.permissionMode ?? 'default'
  if (ALLOWING.has(mode)) return null
  const rules = [...(allowedTools ?? []), ...(settings.allowed ?? [])]
  if (mode !== 'plan' && rules.some((rule) => EDIT_RULE.test(rule))) return null
  return `Edits will be denied: in permission mode ${mode} the client asks before it edits a file or runs a command that changes files, and nobody can be asked in a job. ${WHAT_ALLOWS}`
}

const WHAT_ALLOWS =
  '--permission-mode acceptEdits allows edits, --permission-mode bypassPermissions everything, allowed_tools of an agent single tools.'
