/** Limits the time of work on archives while a user waits for it. */
export interface TimeLimit {
  isOver(): boolean
  /** True when that many bytes can probably be copied in the remaining time. */
  allows(bytes: number): boolean
}

/** Estimated bytes per millisecond that are copied, compressed, read back and hashed. */
const BYTES_PER_MS = 50_000

/** Starts a time limit. `elapsed` returns milliseconds of a monotonic clock. */
export function startTimeLimit(ms: number, elapsed: () => number = () => performance.now()): TimeLimit {
  const end = elapsed() + ms
  return {
    isOver: () => elapsed() >= end,
    allows: (bytes) => bytes / BYTES_PER_MS < end - elapsed(),
  }
}

const MAX_ATTEMPTS = 5
const FIRST_WAIT_MS = 60_000

/**
 * Returns when to retry: after one minute, then four times as long each time.
 * Null when the maximum number of attempts is reached.
 */
export function nextRetryAt(attempts: number, now: Date): string | null {
  return attempts >= MAX_ATTEMPTS ? null : new Date(now.getTime() + FIRST_WAIT_MS * 4 ** (attempts - 1)).toISOString()
}
