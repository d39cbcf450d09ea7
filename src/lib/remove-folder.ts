import { rmSync } from 'node:fs'
import { errorCodeOf } from './errors.js'

const TRIES = 40
const PAUSE_MS = 50

/**
 * Removes a folder in which a process may still write its last files.
 * `rmSync` retries the folder itself, but not the files that were added meanwhile.
 */
export function removeFolder(path: string): void {
  for (let left = TRIES; ; left--) {
    try {
      rmSync(path, { recursive: true, force: true })
      return
    } catch (error) {
      if (left === 0 || errorCodeOf(error) !== 'ENOTEMPTY') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    }
  }
}
