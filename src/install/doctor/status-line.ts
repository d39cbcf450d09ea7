import { readIfThere } from '../../lib/atomic-file.js'
import { homeFiles } from '../home-files.js'
import { mentionsUs, readStatusLine } from '../launcher-call.js'
import { keyOf } from '../look.js'
import type { Fault, Finding } from './finding.js'
import { deciding, type Layer, layersOf } from './layers.js'
import type { Patient } from './patient.js'
import { byInstall, recognise, type Target, targetsOf } from './targets.js'

const PUTS = "puts Baton's before yours, which stays"

/** Whether the figure is shown: the status line the client takes is ours, and runs the one that was there before. */
export function checkStatusLine(patient: Patient): Finding {
  const faults: Fault[] = []
  const told = new Set<string>()
  for (const target of targetsOf(patient)) {
    const { fault, says } = judgeLine(patient, target)
    if (fault) faults.push(fault)
    if (says) told.add(says)
  }
  // What keeps it from being there is said by the check of the settings.
  return { told: [...told].join(' ') || 'There is none of Baton’s yet: baton install puts it in.', faults }
}

function judgeLine(patient: Patient, target: Target): { fault?: Fault; says?: string } {
  const layers = layersOf(patient, target)
  // A file the client can make nothing of has a check of its own.
  if (!layers.some(({ path }) => keyOf(path) === keyOf(target.path))) return {}
  const layer = deciding(layers, 'statusLine')
  const by = recognise(patient)
  if (!layer) return { fault: byInstall(patient, `There is no status line in ${target.path}.`, "puts Baton's there", target) }
  const { command, type } = layer.values.statusLine as { command?: unknown; type?: unknown }
  if (typeof command !== 'string' || type !== 'command') {
    return { says: `The status line in ${layer.path} is of a type Baton cannot run beside its own; it was left as it is.` }
  }
  const ours = readStatusLine(command, by)
  if (ours?.whose === 'other-home') return {}
  if (ours) return judgeOurs(patient, target, layer, ours)
  if (mentionsUs(command, by)) return { says: `The status line in ${layer.path} calls Baton itself.` }
  if (keyOf(layer.path) === keyOf(target.path))
    return { fault: byInstall(patient, `The status line in ${layer.path} is not Baton's, so no figure is shown.`, PUTS, target) }
  return { fault: hidden(layer, target) }
}

function judgeOurs(
  patient: Patient,
  target: Target,
  { path }: Layer,
  ours: NonNullable<ReturnType<typeof readStatusLine>>,
): { fault?: Fault; says?: string } {
  const key = keyOf(path)
  if (!ours.current || ours.whose === 'gone' || ours.args[1] !== key)
    return { fault: byInstall(patient, `The status line in ${path} is not as this version writes it.`, 'puts it right', target) }
  const kept = readIfThere(homeFiles(patient.home.root, key).former)?.toString() ?? ''
  if (kept !== ours.former)
    return {
      fault: byInstall(
        patient,
        `The status line you had before (in ${path}) is not run beside Baton's.`,
        'brings it back',
        target,
      ),
    }
  return { says: `Baton's, in ${path}${ours.former ? ', with yours beside it' : ''}.` }
}

/** One that ranks above the file Baton is in. */
function hidden(layer: Layer, target: Target): Fault {
  const detail = `The status line in ${layer.path} hides Baton's in ${target.path}.`
  if (layer.rank === 'managed')
    return { detail, fix: 'It is set by your organisation. Hooks still measure; baton status shows the figures.' }
  return { detail, fix: `Run baton install --scope project in ${target.project}: it shows both there.` }
}
