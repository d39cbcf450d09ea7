const MOST = 5
const FIRST_WAIT_MS = 60_000

/** When something that failed is tried again: after a minute, then each time four times as long. null: often enough. */
export function nextTry(attempts: number, now: Date): string | null {
  return attempts >= MOST ? null : new Date(now.getTime() + FIRST_WAIT_MS * 4 ** (attempts - 1)).toISOString()
}
