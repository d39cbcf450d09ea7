const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Resolves with the first of these signals. From then on a second one ends the process at once, as people expect of Ctrl-C. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of SIGNALS) process.off(signal, stop)
      resolve()
    }
    for (const signal of SIGNALS) process.on(signal, stop)
  })
}
