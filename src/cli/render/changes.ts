import { dirname } from 'node:path'
import { tilde } from './paths.js'
import type { Paint } from './screen.js'
import { padEnd } from './width.js'

export interface Change {
  path: string
  action: string
  backup: string | null
}

/** What was done to which file; several in one folder with the same fate share a line. Files left as they were are not listed. */
export function changeLines(files: readonly Change[], home: string | undefined, paint: Paint): string[] {
  const done = files.filter((file) => file.action !== 'unchanged')
  const shown: string[] = []
  const folders = new Set<string>()
  for (const file of done) {
    const root = modRoot(file.path)
    const key = `${file.action} ${root}`
    if (root !== null && folders.has(key)) continue
    if (root !== null) folders.add(key)
    const backup =
      file.backup === null ? [] : [`${' '.repeat(11)}${paint(`the bytes from before: ${tilde(file.backup, home)}`, 'dim')}`]
    shown.push(`  ${padEnd(file.action, 9)}${tilde(root ?? file.path, home)}`, ...backup)
  }
  return shown
}

/** Files of the mod are shown as their folder. */
function modRoot(path: string): string | null {
  const at = path.lastIndexOf('/skills/baton')
  return at < 0 ? null : `${dirname(`${path.slice(0, at)}/skills/x`)}/baton/`
}
