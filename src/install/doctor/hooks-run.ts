import { type Fault, type Finding, fine } from './finding.js'
import { deciding, type Layer, layersOf } from './layers.js'
import type { Patient } from './patient.js'
import { targetsOf } from './targets.js'

/** Whether the client runs hooks at all: settings can forbid it, and then nothing of Baton's runs however well it is installed. */
export function checkHooksRun(patient: Patient): Finding {
  const faults = targetsOf(patient).flatMap((target) => judgeHooksRun(layersOf(patient, target)))
  const unique = new Map(faults.map((fault) => [fault.detail, fault]))
  return unique.size === 0 ? fine('No settings forbid them.') : { told: '', faults: [...unique.values()] }
}

export function judgeHooksRun(layers: readonly Layer[]): Fault[] {
  const ask = 'Ask whoever manages this machine to allow your hooks.'
  const off = deciding(layers, 'disableAllHooks')
  if (off && off.values.disableAllHooks !== false) {
    const detail = `disableAllHooks is set in ${off.path}: Claude Code runs no hooks and no status line.`
    return [{ detail, fix: off.rank === 'managed' ? ask : `Remove disableAllHooks from ${off.path}.` }]
  }
  const managed = layers.filter(({ rank }) => rank === 'managed')
  return managed.flatMap(({ path, values }) => {
    if (values.allowManagedHooksOnly === true)
      return [
        { detail: `allowManagedHooksOnly is set in ${path}: Claude Code runs only the hooks of your organisation.`, fix: ask },
      ]
    const locked = values.strictPluginOnlyCustomization
    if (locked === true || (Array.isArray(locked) && locked.includes('hooks')))
      return [
        { detail: `strictPluginOnlyCustomization in ${path} keeps Claude Code from running hooks of settings files.`, fix: ask },
      ]
    return []
  })
}
