/** Bounds work on archives that somebody waits for. */
export interface TimeLimit {
  isOver(): boolean
  /** Whether so many bytes can probably be copied in the time that is left. */
  allows(bytes: number): boolean
}

/** Bytes copied in a millisecond, compressed, read back and hashed: an estimate. */
const BYTES_PER_MS = 50_000

/** `elapsed` returns milliseconds of a clock that never goes back. */
export function timeLimit(ms: number, elapsed: () => number = () => performance.now()): TimeLimit {
  const end = elapsed() + ms
  return {
    isOver: () => elapsed() >= end,
    allows: (bytes) => bytes / BYTES_PER_MS < end - elapsed(),
  }
}

const MOST = 5
const FIRST_WAIT_MS = 60_000

/** When something that failed is tried again: after a minute, then each time four times as long. null: often enough. */
export function nextTry(attempts: number, now: Date): string | null {
  return attempts >= MOST ? null : new Date(now.getTime() + FIRST_WAIT_MS * 4 ** (attempts - 1)).toISOString()
}
