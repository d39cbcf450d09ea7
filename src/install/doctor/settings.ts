import { WAITER_EVENTS, WAITER_KEYS } from '../../agents/claude-code/waiter.js'
import { realTarget } from '../../lib/atomic-file.js'
import { type Entry, EVENTS, entries, isBlank, openSettings, projectSettings } from '../claude-code-settings.js'
import { otherHomes } from '../claude-code-settings-change.js'
import { InstallProblem } from '../install-problem.js'
import type { Recognise } from '../launcher-call.js'
import { lookAtSettings } from '../look.js'
import { asText, checked } from '../without-baton.js'
import { broken, type Fault, type Finding, listed } from './finding.js'
import type { Patient } from './patient.js'
import { byInstall, recognise, rehearse, type Target, targetsOf, userSettings } from './targets.js'

/** Whether the client's settings call the launcher: for every event, once, as this version writes it. */
export function checkSettings(patient: Patient): Finding {
  const targets = targetsOf(patient)
  if (targets.length === 0) return broken("Baton is in none of Claude Code's settings.", 'Run baton install.')
  const faults = [...targets.flatMap((target) => judgeTarget(patient, target)), ...notRead(patient, targets)]
  const places = targets.map(({ scope, path }) => `${path} (${scope})`)
  return { told: `All ${Object.keys(EVENTS).length} events, in ${listed(places)}.`, faults }
}

function judgeTarget(patient: Patient, target: Target): Fault[] {
  const { path, scope } = target
  try {
    const { bytes } = lookAtSettings(path)
    if (bytes === null) return [byInstall(patient, `${path} is gone, and Baton's hooks with it.`, 'installs them again', target)]
    const text = asText(path, bytes)
    const by = recognise(patient)
    const [elsewhere] = checked(path, () => otherHomes(text, by))
    const found = elsewhere ? [] : checked(path, () => judgeEntries(text, by))
    if (found.length > 0) return found.map((detail) => byInstall(patient, `${path}: ${detail}`, 'puts them right', target))
    const damaged = rehearse(patient, target).notes.filter((note) => note.includes('is damaged'))
    return damaged.map((detail) => byInstall(patient, detail, `runs baton install --scope ${scope} again`, target))
  } catch (error) {
    if (!(error instanceof InstallProblem)) throw error
    // The launcher has a check of its own.
    if (error.path !== patient.home.launcher) return [{ detail: `${error.path}: ${error.reason}.`, fix: error.hint }]
    return []
  }
}

/** What is wrong with the entries of ours in a settings file, a sentence each. Throws SettingsFault. */
export function judgeEntries(text: string, by: Recognise): string[] {
  const all = isBlank(text) ? [] : entries(openSettings(text), by)
  const events = Object.keys(EVENTS)
  const of = (event: string): Entry[] => all.filter((entry) => entry.event === event && !isWaiter(entry))
  const missing = events.filter((event) => of(event).length === 0)
  const doubled = events.filter((event) => of(event).length > 1)
  const odd = all.filter((entry) => !doubled.includes(entry.event) && !isCurrent(entry)).map(({ event }) => event)
  return [
    ...(missing.length === events.length ? ["Baton's hooks are missing."] : []),
    ...(missing.length > 0 && missing.length < events.length ? [`the hooks for ${listed(missing)} are missing.`] : []),
    ...(doubled.length > 0
      ? [`${listed(doubled)} call${doubled.length > 1 ? '' : 's'} Baton more than once, in different spellings.`]
      : []),
    ...(odd.length > 0 ? [`the hooks for ${listed([...new Set(odd)])} are not as this version writes them.`] : []),
  ]
}

const isWaiter = ({ event, call }: Entry): boolean => WAITER_EVENTS.includes(event) && call.args[0] === 'waiter'

function isCurrent(entry: Entry): boolean {
  const { event, call, hook, matcher } = entry
  if (isWaiter(entry)) return call.current && call.whose === 'ours' && matcher === '' && hasWaiterKeys(hook)
  const { timeout, type, args } = hook as { timeout?: unknown; type?: unknown; args?: unknown }
  const asWritten = call.current && call.whose === 'ours' && call.args.length === 1 && call.args[0] === event
  return asWritten && type === 'command' && timeout === EVENTS[event] && args === undefined && matcher === ''
}

function hasWaiterKeys(hook: unknown): boolean {
  return Object.entries(WAITER_KEYS).every(([key, value]) => (hook as Record<string, unknown>)[key] === value)
}

/** Installed for this user elsewhere, but the client started here reads another file. */
function notRead(patient: Patient, targets: Target[]): Fault[] {
  const here = [userSettings(patient.env), projectSettings(patient.cwd).local].map((path) => realTarget(path))
  const elsewhere = targets.find(({ scope }) => scope === 'user')
  if (!elsewhere || targets.some(({ path }) => here.includes(realTarget(path)))) return []
  const detail = `Baton is in ${elsewhere.path}, but Claude Code started here reads ${here[0]} (CLAUDE_CONFIG_DIR).`
  return [{ detail, fix: 'Run baton install here, too.' }]
}
