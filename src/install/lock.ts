import { existsSync, lstatSync, mkdirSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { realTarget } from '../lib/atomic-file.js'
import { codeOf } from '../lib/errors.js'
import { isRunning } from '../lib/process-info.js'
import { InstallProblem } from './install-problem.js'

const PATIENCE_MS = 10_000
const PAUSE_MS = 25

/**
 * One install or uninstall at a time in one home. The lock is a link that names its owner: made and filled in one go.
 * That of a process that is gone is taken over; should two take it over at once, the comparison before each rename
 * still keeps them from losing anything.
 */
export function withLock<T>(path: string, work: () => T): T {
  const folder = realTarget(dirname(path))
  const existed = existsSync(folder)
  for (let waited = 0; !take(path, folder); waited += PAUSE_MS) {
    if (waited >= PATIENCE_MS) {
      throw new InstallProblem(path, 'another install or uninstall is at work', 'Wait for it to end and try again.')
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  try {
    return work()
  } finally {
    unless(['ENOENT'], () => unlinkSync(path))
    if (!existed) unless(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(folder))
  }
}

/** Also true for the lock of a run that was killed, which the next one clears away. */
export function isLocked(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function take(path: string, folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // ENOENT: whoever made the folder has just removed it again.
  if (unless(['EEXIST', 'ENOENT'], () => symlinkSync(String(process.pid), path))) return true
  let owner = ''
  unless(['ENOENT', 'EINVAL'], () => {
    owner = readlinkSync(path)
  })
  if (/^\d+$/.test(owner) && !isRunning(Number(owner))) unless(['ENOENT'], () => unlinkSync(path))
  return false
}

/** False when it failed in one of the ways that were to be expected. */
function unless(expected: string[], work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (expected.includes(codeOf(error) ?? '')) return false
    throw error
  }
}
