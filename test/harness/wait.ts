/**
 * Upper bound of every wait in a test, only to end a test that hangs. At a load of 15 on two cores
 * the demo took 120 s to its second session, which it reaches in 15 s on an idle machine.
 */
export const PATIENCE_MS = 480_000

/**
 * Environment that makes Baton wait five times as long as usual for a server, a transcript or git
 * in the tiers with the real client (see src/lib/patience.ts). Simulated sessions have no
 * transcript to wait for.
 */
export const longPatience = (): Record<string, string> =>
  process.env.BATON_PATIENCE === undefined ? {} : { BATON_PATIENCE: process.env.BATON_PATIENCE }

/**
 * Calls `ask` until it returns something other than null, undefined or false, and returns that.
 * Throws with `what` after PATIENCE_MS. Pauses between two calls longer than the last one took, so
 * that polling does not take a core from the process it waits for.
 */
export async function until<T>(
  what: string | (() => string | Promise<string>),
  ask: () => T | Promise<T>,
  { every = 25 }: { every?: number } = {},
): Promise<Exclude<T, null | undefined | false>> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const asked = performance.now()
    const answer = await ask()
    const took = performance.now() - asked
    const rest = Math.max(every, 2 * took, Math.min(8 * took, 200))
    if (answer !== null && answer !== undefined && answer !== false)
      return answer as Exclude<T, null | undefined | false>
    if (Date.now() > end)
      throw new Error(`not within ${PATIENCE_MS} ms: ${typeof what === 'string' ? what : await what()}`)
    await pause(rest)
  }
}

/** The real timer, also for a test that replaces it to decide when a time limit is over. */
const { setTimeout: later } = globalThis

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    later(resolve, ms)
  })
