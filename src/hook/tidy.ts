import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const DAY_MS = 24 * 3_600_000
const KEEP_REPORTS_MS = 7 * DAY_MS

/** Once a day, whoever comes first: old readings are thinned, and live reports of sessions silent for a week are forgotten. */
export function tidyDaily(store: { thin(now: Date): number }, places: { live: string; mark: string }, now: Date): void {
  const last = statSync(places.mark, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (now.getTime() - last < DAY_MS) return
  mkdirSync(dirname(places.mark), { recursive: true, mode: 0o700 })
  writeFileSync(places.mark, '', { mode: 0o600 })
  store.thin(now)
  if (existsSync(places.live)) forgetOldReports(places.live, now)
}

function forgetOldReports(live: string, now: Date): void {
  for (const name of readdirSync(live)) {
    const path = join(live, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() && now.getTime() - stat.mtimeMs > KEEP_REPORTS_MS) rmSync(path, { force: true })
  }
}
