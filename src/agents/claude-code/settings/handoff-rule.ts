import { addItem, addProperty, removePart } from '../../../lib/json-edit.js'
import type { CreatedContainers } from '../../installer.js'
import { allowListOf, HANDOFF_RULE, isBlankSettings, parseSettings } from './settings-file.js'

/** The JSON objects and lists that an install added for the rule. Only these are removed again. */
type MadeForRule = NonNullable<CreatedContainers['rule']>

/**
 * Adds the rule that allows `baton handoff`.
 * `made` is null when the rule existed before. Throws SettingsFault.
 */
export function insertHandoffRule(text: string): { text: string; made: MadeForRule | null } {
  const root = parseSettings(text)
  const { permissions, allow, at } = allowListOf(root)
  if (at >= 0) return { text, made: null }
  if (allow) return { text: addItem(text, allow, HANDOFF_RULE), made: 'rule' }
  if (permissions) return { text: addProperty(text, permissions, 'allow', [HANDOFF_RULE]), made: 'allow' }
  return { text: addProperty(text, root, 'permissions', { allow: [HANDOFF_RULE] }), made: 'permissions' }
}

/** Removes the rule if an install added it, and the lists around it if they become empty. */
export function removeHandoffRule(text: string, made: MadeForRule | null): string {
  if (made === null || isBlankSettings(text) || !containsHandoffRule(text)) return text
  const { allow, at } = allowListOf(parseSettings(text))
  const without = removePart(text, allow!, at)
  const left = allowListOf(parseSettings(without))
  if (made === 'rule' || left.allow?.parts.length !== 0) return without
  const bare = removePart(
    without,
    left.permissions!,
    left.permissions!.parts.findIndex(({ key }) => key === 'allow'),
  )
  const root = parseSettings(bare)
  if (made === 'allow' || allowListOf(root).permissions?.parts.length !== 0) return bare
  return removePart(
    bare,
    root,
    root.parts.findIndex(({ key }) => key === 'permissions'),
  )
}

/**
 * Returns whether the settings allow `baton handoff`.
 * False when the file has an invalid value there.
 */
export function containsHandoffRule(text: string): boolean {
  try {
    return !isBlankSettings(text) && allowListOf(parseSettings(text)).at >= 0
  } catch {
    return false
  }
}
