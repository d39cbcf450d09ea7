import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** Returns the first executable file of this name on the PATH. Null when there is none. */
export function findProgram(name: string, env: Record<string, string | undefined>): string | null {
  const folders = [...(env.PATH ?? '').split(':').filter((folder) => isAbsolute(folder)), '/usr/bin', '/bin']
  for (const folder of folders) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      if (statSync(path).isFile()) return path
    } catch {}
  }
  return null
}
