import { addItem, addProperty, removePart } from '../../../lib/json-edit.js'
import type { Created } from '../../installer.js'
import { allowListOf, HANDOFF_RULE, isBlank, openSettings } from './settings-file.js'

/** What an install made for the rule: only these go again. */
type MadeForRule = NonNullable<Created['rule']>

/** The text with the rule that allows `baton handoff`. `made` null: it stood there already. Throws SettingsFault. */
export function insertRule(text: string): { text: string; made: MadeForRule | null } {
  const root = openSettings(text)
  const { permissions, allow, at } = allowListOf(root)
  if (at >= 0) return { text, made: null }
  if (allow) return { text: addItem(text, allow, HANDOFF_RULE), made: 'rule' }
  if (permissions) return { text: addProperty(text, permissions, 'allow', [HANDOFF_RULE]), made: 'allow' }
  return { text: addProperty(text, root, 'permissions', { allow: [HANDOFF_RULE] }), made: 'permissions' }
}

/** Without it, if an install put it there; what was made for it goes if nothing else is in it. */
export function stripRule(text: string, made: MadeForRule | null): string {
  if (made === null || isBlank(text) || !hasRule(text)) return text
  const { allow, at } = allowListOf(openSettings(text))
  const without = removePart(text, allow!, at)
  const left = allowListOf(openSettings(without))
  if (made === 'rule' || left.allow?.parts.length !== 0) return without
  const bare = removePart(
    without,
    left.permissions!,
    left.permissions!.parts.findIndex(({ key }) => key === 'allow'),
  )
  const root = openSettings(bare)
  if (made === 'allow' || allowListOf(root).permissions?.parts.length !== 0) return bare
  return removePart(
    bare,
    root,
    root.parts.findIndex(({ key }) => key === 'permissions'),
  )
}

/** False also where the file says something there that the client could not use. */
export function hasRule(text: string): boolean {
  try {
    return !isBlank(text) && allowListOf(openSettings(text)).at >= 0
  } catch {
    return false
  }
}
