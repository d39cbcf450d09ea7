import { onTestFinished, vi } from 'vitest'
import { pause } from './wait.js'

export interface HeldTime {
  /** Lets time pass until `work` is over. */
  pass<T>(work: Promise<T>): Promise<T>
  /** Milliseconds that have passed so far. */
  passedMs(): number
}

/** Much faster than real time, and slow enough for a process that was told to end. */
const STEP_MS = 100

/**
 * Stops the timers of this process for the rest of the test: a time limit is over when the test says
 * so, and not while a slow machine still starts what the limit ends.
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
