import { lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Home } from '../lib/home.js'

const DAY_MS = 24 * 3_600_000
const KEEP_MS = 7 * DAY_MS

/** Returns the folders of a home that are tidied. */
export function tidyPathsOf({
  root,
  live,
  outbox,
  facts,
}: Pick<Home, 'root' | 'live' | 'outbox' | 'facts'>): TidyPaths {
  return {
    live,
    outbox,
    facts,
    code: join(root, 'code'),
    aside: join(root, 'aside'),
    mark: join(root, 'run', 'tidied'),
  }
}

export interface TidyPaths {
  live: string
  outbox: string
  code: string
  aside: string
  facts: string
  /** File whose modification time is the time of the last tidying. */
  mark: string
}

/**
 * Tidies the home once a day.
 * Deletes old readings, old session files, unprocessable signals and code of other builds.
 * False when it already ran today.
 */
export function tidyDaily(store: { deleteOldRows(now: Date): number }, places: TidyPaths, now: Date): boolean {
  const last = statSync(places.mark, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (now.getTime() - last < DAY_MS) return false
  mkdirSync(dirname(places.mark), { recursive: true, mode: 0o700 })
  writeFileSync(places.mark, '', { mode: 0o600 })
  store.deleteOldRows(now)
  // Skip symbolic links: the folder behind one may hold files of the user.
  for (const folder of [places.live, places.outbox, places.code, places.aside, places.facts])
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) forgetOld(folder, now)
  return true
}

function forgetOld(folder: string, now: Date): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat && now.getTime() - stat.mtimeMs > KEEP_MS) rmSync(path, { recursive: true, force: true })
  }
}
