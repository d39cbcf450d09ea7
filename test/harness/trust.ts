import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { realFolderOf, storeTrust } from '../../src/config/trust.js'
import { batonHome } from '../../src/lib/home.js'

/**
 * Accepts the `baton.yaml` of a folder as it is now, as the user does with `baton trust`. Returns
 * the hash of its bytes.
 */
export function trustProject(env: Record<string, string | undefined>, folder: string): string {
  const file = path.join(folder, 'baton.yaml')
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
  storeTrust(batonHome(env).trust, { folder: realFolderOf(file)!, sha256 }, new Date())
  return sha256
}
