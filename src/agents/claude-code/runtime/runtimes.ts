import type { JobSpec } from '../../../contract/records/job.js'
import type { AgentRuntimes } from '../../agent.js'
import { configDirFromEnvironment, readSettings } from '../settings/read-settings.js'
import { cliRuntime } from './cli-runtime.js'
import { openSdkRuntime } from './sdk-runtime.js'

export const claudeCodeRuntimes: AgentRuntimes = {
  async open(name, { project, binary, ...log }) {
    // The Agent SDK includes its own client.
    return name === 'sdk' ? openSdkRuntime({ project, binary: null, ...log }) : cliRuntime({ binary, ...log })
  },
  deniedEdits,
}

/** Permission modes in which the client edits files without asking. */
const ALLOWING = new Set(['acceptEdits', 'auto', 'bypassPermissions'])
/** A permission rule of the client that allows edits: `Edit`, `Write(src/**)`. */
const EDIT_RULE = /^(?:Edit|Write|MultiEdit|NotebookEdit)(?:\(|$)/

/**
 * Returns the warning shown before a job starts whose edits will be denied.
 * Null when edits are allowed.
 * A job without a permission mode has that of the settings.
 * Rules of the job or the settings that allow edits apply in every mode except `plan`.
 */
export function deniedEdits(
  { permissionMode, allowedTools, runtime, folder }: JobSpec,
  env: Record<string, string | undefined>,
): string | null {
  if (runtime === 'scripted') return null
  const named = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const settings = readSettings({
    configDir: configDirFromEnvironment(Object.fromEntries(named)),
    project: folder,
    cwd: folder,
  })
  const mode = permissionMode ?? settings.permissionMode ?? 'default'
  if (ALLOWING.has(mode)) return null
  const rules = [...(allowedTools ?? []), ...(settings.allowed ?? [])]
  if (mode !== 'plan' && rules.some((rule) => EDIT_RULE.test(rule))) return null
  return `Edits will be denied: permission mode ${mode} asks before every change, and jobs run unattended. ${OPTIONS}`
}

const OPTIONS = [
  'Allow edits with --permission-mode acceptEdits, everything with --permission-mode bypassPermissions,',
  'single tools with allowed_tools of an agent.',
].join(' ')
