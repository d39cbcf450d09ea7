import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRunning } from '../lib/atomic-file.js'
import { codeOf } from '../lib/errors.js'
import { InstallProblem } from './install-problem.js'

const PATIENCE_MS = 5000
const PAUSE_MS = 25

/**
 * One install at a time in one home. The lock of a process that is gone is taken over; should two take it over at once,
 * the comparison before each rename still keeps them from losing anything.
 */
export function withLock<T>(path: string, work: () => T): T {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (let waited = 0; !take(path); waited += PAUSE_MS) {
    if (waited >= PATIENCE_MS) {
      throw new InstallProblem(path, 'another install or uninstall is at work', 'Wait for it to end and try again.')
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  try {
    return work()
  } finally {
    rmSync(path, { force: true })
  }
}

function take(path: string): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600)
    writeSync(fd, String(process.pid))
    closeSync(fd)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const owner = ownerOf(path)
  if (owner !== null && !isRunning(owner)) rmSync(path, { force: true })
  return false
}

/** null: it is being written, or already gone. */
function ownerOf(path: string): number | null {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || null
  } catch {
    return null
  }
}
