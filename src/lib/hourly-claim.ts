import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from './errors.js'
import type { Home } from './home.js'
import { namesInFolder } from './named-file.js'

const HOUR_MS = 3_600_000
/** Maximum number of entries. A folder with more entries is not Baton's own. */
const MOST_NAMES = 10_000

/**
 * Lets only one of many processes do something, at most once an hour, without a lock.
 * The file `{name}-{hour}` is created exclusively, so one process wins.
 * A process that is killed afterwards leaves nothing to clean up.
 * In a folder without such a file, the first hour begins now.
 */
interface HourlyClaim {
  folder: string
  name: string
  now: Date
}

/**
 * Returns true when no process has claimed the work within the last hour.
 * The only side effect is to begin the first hour.
 */
export function isClaimDue(claim: HourlyClaim): boolean {
  const marks = marksOf(claim)
  if (marks.length > 0) return marks.every((mark) => isOld(claim, mark))
  create(claim)
  return false
}

/** Returns true for the one process that may do the hourly work now. */
export function claimHour(claim: HourlyClaim): boolean {
  if (!isClaimDue(claim) || !create(claim)) return false
  for (const mark of marksOf(claim)) if (mark !== markAt(claim)) rmSync(join(claim.folder, mark), { force: true })
  return true
}

/** The hourly claim for the sweep, which finds sessions that ended without a signal. */
export function sweepHourlyClaim({ root }: Pick<Home, 'root'>, now: Date): HourlyClaim {
  return { folder: join(root, 'run'), name: 'swept', now }
}

const hourOf = (now: Date): number => Math.floor(now.getTime() / HOUR_MS)
const markAt = ({ name, now }: HourlyClaim): string => `${name}-${hourOf(now)}`

function marksOf({ folder, name }: HourlyClaim): string[] {
  const marks = new RegExp(`^${name}-\\d+$`)
  return namesInFolder(folder, MOST_NAMES).filter((mark) => marks.test(mark))
}

/** Returns true for a mark file older than an hour, or from the future (the clock was set back). */
function isOld({ folder, now }: HourlyClaim, mark: string): boolean {
  const made = statSync(join(folder, mark), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return Math.abs(now.getTime() - made) >= HOUR_MS
}

/**
 * Creates the mark file. False when another process was faster or the folder is not writable.
 * The folder itself is never created, because nothing may reappear after an uninstall.
 */
function create(claim: HourlyClaim): boolean {
  try {
    const mark = join(claim.folder, markAt(claim))
    writeFileSync(mark, '', { flag: 'wx', mode: 0o600 })
    utimesSync(mark, claim.now, claim.now)
    return true
  } catch (error) {
    if (errorCodeOf(error) !== undefined) return false
    throw error
  }
}
