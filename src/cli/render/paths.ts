import { basename, dirname } from 'node:path'
import { harmless } from './width.js'

const ROOM = 28

/** `~/code/shop` for what lies in the person's home. */
export function tilde(path: string, home: string | undefined): string {
  const shown = home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
  return harmless(shown)
}

/** The last two folders tell a project apart in little room, or else the last one. */
export function projectName(path: string | null, home: string | undefined): string {
  if (path === null) return '–'
  const full = tilde(path, home)
  if (full.length <= ROOM) return full
  const two = `…/${basename(dirname(full))}/${basename(full)}`
  return two.length <= ROOM ? two : `…/${basename(full)}`
}
