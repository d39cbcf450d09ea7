import { onTestFinished, vi } from 'vitest'
import { pause } from './wait.js'

export interface HeldTime {
  /** Advances the held timers until `work` settles. */
  pass<T>(work: Promise<T>): Promise<T>
  /** Milliseconds that have passed so far. */
  passedMs(): number
}

/** Timer step: much faster than real time, but slow enough for a signalled process to exit. */
const STEP_MS = 100

/**
 * Stops the timers of this process for the rest of the test. A time limit expires when the test
 * says so, and not while a slow machine still starts the process that it limits.
 */
export function holdTime(): HeldTime {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let passed = 0
  return {
    passedMs: () => passed,
    async pass(work) {
      let isOver = false
      const over = (): void => {
        isOver = true
      }
      void work.then(over, over)
      while (!isOver) {
        await vi.advanceTimersByTimeAsync(STEP_MS)
        passed += STEP_MS
        await pause(1)
      }
      return work
    },
  }
}
