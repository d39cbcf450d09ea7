import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const KEEP_MS = 7 * 24 * 3_600_000

/** Live reports of sessions that have not reported for a week; a session that comes back writes a new one. */
export function dropOldReports(live: string, now: Date): void {
  for (const name of readdirSync(live)) {
    const path = join(live, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() && now.getTime() - stat.mtimeMs > KEEP_MS) rmSync(path, { force: true })
  }
}
