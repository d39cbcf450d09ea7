/**
 * Asks again and again until the answer is neither null, undefined nor false. Throws `what` after `ms`. Between two questions it rests
 * twice as long as the last one took: one that starts a process would else keep a core from what it waits for.
 */
export async function until<T>(
  what: string | (() => string),
  ask: () => T | Promise<T>,
  ms = 10_000,
  every = 25,
): Promise<Exclude<T, null | undefined | false>> {
  const end = Date.now() + ms
  for (;;) {
    const asked = performance.now()
    const answer = await ask()
    const rest = Math.max(every, 2 * (performance.now() - asked))
    if (answer !== null && answer !== undefined && answer !== false) return answer as Exclude<T, null | undefined | false>
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${typeof what === 'string' ? what : what()}`)
    await pause(rest)
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
