import type { AgentInstaller } from '../agents/installer.js'
import type { ProgramRecognition } from '../agents/shared/launcher-call.js'
import { installFiles } from './home-files.js'
import { type FoundMod, planModRemoval } from './mod-folder.js'
import type { FileChange, FoundSettings, Plan, Step } from './plan.js'
import { type EarlierInstall, withoutBaton } from './without-baton.js'

export interface UninstallTarget {
  installer: AgentInstaller
  settings: FoundSettings
  earlier: EarlierInstall
  mod: FoundMod
}

interface UninstallInput {
  home: string
  targets: UninstallTarget[]
  by: ProgramRecognition
  launcherFound: boolean
  /** Folders that Baton created in its home and that still exist. Empty ones are removed. */
  homeFolders: string[]
  /** True when no other settings file calls the launcher any more. */
  last: boolean
}

/**
 * Plans the removal and changes nothing.
 * Throws InstallProblem when one of the files must not be changed.
 */
export function planUninstall(input: UninstallInput): Plan {
  const plan: Plan = { steps: [], files: [], notes: [], settings: input.targets.map((t) => t.settings.path) }
  const afterwards: Step[] = []
  // Change all settings files first: once nothing calls the launcher, no step disturbs a client.
  for (const { installer, settings, earlier, mod } of input.targets) {
    const blank = withoutBaton(installer, settings, earlier, input.by)
    const { change, step } = settingsChange(settings, blank, earlier)
    plan.files.push(change)
    if (step) plan.steps.push(step)
    const modPlan = planModRemoval(mod)
    plan.files.push(...modPlan.files)
    plan.notes.push(...earlier.notes)
    afterwards.push(...modPlan.steps, ...leftBehind(input.home, settings.key, earlier))
  }
  plan.steps.push(...afterwards)
  if (!input.last) return plan
  const { launcher } = installFiles(input.home, '')
  if (input.launcherFound) {
    plan.files.push({ path: launcher, action: 'removed', backup: null })
    plan.steps.push({ do: 'remove', path: launcher })
  }
  plan.steps.push(...input.homeFolders.map((path): Step => ({ do: 'remove-folder-if-empty', path })))
  return plan
}

function settingsChange(
  settings: FoundSettings,
  blank: Buffer | null,
  earlier: EarlierInstall,
): { change: FileChange; step: Step | null } {
  const { path, bytes, mode } = settings
  const backup = earlier.record?.before?.backup ?? null
  if (bytes === null || blank?.equals(bytes)) return { change: { path, action: 'unchanged', backup: null }, step: null }
  if (blank === null)
    return { change: { path, action: 'removed', backup }, step: { do: 'remove', path, expect: bytes } }
  const action = earlier.before?.equals(blank) ? 'restored' : 'changed'
  return {
    change: { path, action, backup },
    step: { do: 'write', path, bytes: blank, mode: mode ?? 0o600, expect: bytes },
  }
}

/**
 * Returns the steps that remove the record and the former status line.
 * The record is removed last, so that an interrupted run can be finished.
 */
function leftBehind(home: string, key: string, earlier: EarlierInstall): Step[] {
  const files = installFiles(home, key)
  const folders = [...(earlier.record?.folders ?? [])].reverse()
  return [
    ...(earlier.formerOf(key) === null ? [] : [{ do: 'remove', path: files.former } satisfies Step]),
    ...folders.map((path): Step => ({ do: 'remove-folder-if-empty', path })),
    ...(earlier.recordText === null ? [] : [{ do: 'remove', path: files.record } satisfies Step]),
  ]
}
