import { addItem, addProperty, removePart, replaceValue } from '../../../lib/json-edit.js'
import { type JsonObject, propertyOf, toValue } from '../../../lib/json-text.js'
import type { CreatedContainers, RememberedEntries, SettingsWithEntries, WantedEntries } from '../../installer.js'
import {
  hookCommand,
  mentionsBaton,
  type ProgramRecognition,
  parseStatusLineCommand,
  statusLineCommand,
} from '../../shared/launcher-call.js'
import { WAITING_HOOK_EVENTS, WAITING_HOOK_SETTINGS } from '../waiter.js'
import { containsHandoffRule, insertHandoffRule, removeHandoffRule } from './handoff-rule.js'
import {
  type BatonEntry,
  findBatonEntries,
  HOOK_TIMEOUTS_S,
  isBlankSettings,
  parseSettings,
  settingsObjectAt,
  statusLineOf,
} from './settings-file.js'

export function insertBatonEntries(blank: string, want: WantedEntries): SettingsWithEntries {
  const put = insertCalls(blank, want)
  const { text, made } = want.rule ? insertHandoffRule(put.text) : { text: put.text, made: null }
  return { ...put, text, created: { ...put.created, ...(made ? { rule: made } : {}) } }
}

function insertCalls(blank: string, want: WantedEntries): SettingsWithEntries {
  let text = isBlankSettings(blank) ? `${blank.startsWith('\uFEFF') ? '\uFEFF' : ''}{}\n` : blank
  const notes: string[] = []
  const root = parseSettings(text)
  const hooks = settingsObjectAt(root, 'hooks')
  const created: CreatedContainers = {
    hooks: !hooks,
    events: Object.keys(HOOK_TIMEOUTS_S).filter((e) => !hooks || !propertyOf(hooks, e)),
    statusLine: false,
  }
  const plain = toValue(root) as Record<string, unknown>
  if (plain.disableAllHooks === true)
    notes.push('disableAllHooks is set in this file. Claude Code runs no hooks until you remove it.')

  if (!hooks)
    text = addProperty(
      text,
      root,
      'hooks',
      Object.fromEntries(Object.keys(HOOK_TIMEOUTS_S).map((e) => [e, [group(want, e)]])),
    )
  else for (const event of Object.keys(HOOK_TIMEOUTS_S)) text = insertEvent(text, event, want)

  const line = statusLineOf(parseSettings(text))
  if (line.kind === 'foreign') {
    notes.push(
      `Your status line has the type ${JSON.stringify(line.type)}, which Baton cannot combine. It is unchanged.`,
    )
  } else if (line.kind === 'command' && mentionsBaton(line.command, want.by)) {
    notes.push('Your status line already calls Baton. It is unchanged.')
  } else if (line.kind === 'command') {
    const literal = text.slice(line.node.start, line.node.end)
    text = replaceValue(text, line.node, JSON.stringify(statusLineCommand(want.launcher, want.key, line.command)))
    return { text, created, former: line.command, formerLiteral: literal, notes }
  } else if (
    want.inherited !== null &&
    (parseStatusLineCommand(want.inherited, want.by) || mentionsBaton(want.inherited, want.by))
  ) {
    notes.push("Your user settings already contain Baton's status line, so none was added here.")
  } else {
    const command = statusLineCommand(want.launcher, want.key, want.inherited)
    text = addProperty(text, parseSettings(text), 'statusLine', { type: 'command', command })
    return { text, created: { ...created, statusLine: true }, former: want.inherited, formerLiteral: null, notes }
  }
  return { text, created, former: null, formerLiteral: null, notes }
}

/**
 * Returns the settings text without any entry of Baton's. All other bytes stay the same.
 * `formerOf` returns the former status line by key, for forms that do not contain it.
 */
export function removeBatonEntries(
  text: string,
  by: ProgramRecognition,
  known: RememberedEntries | null,
  formerOf: (key: string) => string | null,
): string {
  if (isBlankSettings(text)) return text
  let now = text
  for (let entry = findEntry(now, by); entry; entry = findEntry(now, by))
    now = removeEntry(now, entry, known?.created ?? null)
  if (now !== text && (known?.created.hooks ?? true)) now = dropEmpty(now, parseSettings(now), 'hooks')
  return removeHandoffRule(stripStatusLine(now, by, known, formerOf), known?.created.rule ?? null)
}

/** Returns whether both texts hold the same entries of Baton's, whatever their layout. */
export function haveSameBatonEntries(one: string, other: string, by: ProgramRecognition): boolean {
  return JSON.stringify(listOurs(one, by)) === JSON.stringify(listOurs(other, by))
}

function listOurs(text: string, by: ProgramRecognition): unknown[] {
  if (isBlankSettings(text)) return []
  const root = parseSettings(text)
  const line = statusLineOf(root)
  const own = line.kind === 'command' && parseStatusLineCommand(line.command, by) ? line.command : null
  return [
    own,
    containsHandoffRule(text),
    ...findBatonEntries(root, by)
      .map((e) => [e.event, e.matcher, sorted(e.hook)])
      .sort(),
  ]
}

const sorted = (hook: unknown) => Object.entries(hook as object).sort(([a], [b]) => (a < b ? -1 : 1))

/** Lists the existing launchers of other homes that this file calls. */
export function launchersOfOtherHomes(text: string, by: ProgramRecognition): string[] {
  if (isBlankSettings(text)) return []
  const root = parseSettings(text)
  const line = statusLineOf(root)
  const calls = [
    ...findBatonEntries(root, by).map((e) => e.call),
    line.kind === 'command' ? parseStatusLineCommand(line.command, by) : null,
  ]
  return [...new Set(calls.flatMap((c) => (c?.whose === 'other-home' ? [c.launcher] : [])))]
}

const group = ({ launcher, waiter }: WantedEntries, event: string) => ({
  hooks: [
    { type: 'command', command: hookCommand(launcher, event), timeout: HOOK_TIMEOUTS_S[event] },
    ...(waiter && WAITING_HOOK_EVENTS.includes(event)
      ? [{ type: 'command', command: hookCommand(launcher, 'waiter'), ...WAITING_HOOK_SETTINGS }]
      : []),
  ],
})

function insertEvent(text: string, event: string, want: WantedEntries): string {
  const hooks = settingsObjectAt(parseSettings(text), 'hooks')!
  const groups = propertyOf(hooks, event)?.value
  if (groups?.kind === 'array') return addItem(text, groups, group(want, event))
  return addProperty(text, hooks, event, [group(want, event)])
}

function findEntry(text: string, by: ProgramRecognition): BatonEntry | undefined {
  return findBatonEntries(parseSettings(text), by).find((e) => e.call.whose !== 'other-home')
}

function removeEntry(text: string, entry: BatonEntry, created: CreatedContainers | null): string {
  if (entry.list.parts.length > 1) return removePart(text, entry.list, entry.index)
  if (entry.groups.parts.length > 1) return removePart(text, entry.groups, entry.groupIndex)
  const hooks = settingsObjectAt(parseSettings(text), 'hooks')!
  if (created && !created.events.includes(entry.event)) return removePart(text, entry.groups, entry.groupIndex)
  return removePart(
    text,
    hooks,
    hooks.parts.findIndex((p) => p.value.start === entry.groups.start),
  )
}

function dropEmpty(text: string, root: JsonObject, key: string): string {
  const index = root.parts.findIndex((p) => p.key === key)
  const value = root.parts[index]?.value
  return value?.kind === 'object' && value.parts.length === 0 ? removePart(text, root, index) : text
}

function stripStatusLine(
  text: string,
  by: ProgramRecognition,
  known: RememberedEntries | null,
  formerOf: (key: string) => string | null,
): string {
  const root = parseSettings(text)
  const line = statusLineOf(root)
  const ours = line.kind === 'command' ? parseStatusLineCommand(line.command, by) : null
  if (line.kind !== 'command' || !ours || ours.whose === 'other-home') return text
  const former = ours.former || (ours.current ? '' : formerOf(ours.args[1] ?? '')) || ''
  const remove = known?.created.statusLine ? former === (known.former ?? '') : former === '' && known?.former !== ''
  if (remove) {
    return removePart(
      text,
      root,
      root.parts.findIndex((p) => p.key === 'statusLine'),
    )
  }
  const literal = known?.formerLiteral && known.former === former ? known.formerLiteral : JSON.stringify(former)
  return replaceValue(text, line.node, literal)
}
