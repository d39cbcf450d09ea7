import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the bytes of a file or folder. 0 when nothing is there. Follows no links. */
export function diskSize(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.isFile() ? stat.size : 0
  return readdirSync(path).reduce((sum, name) => sum + diskSize(join(path, name)), 0)
}
