const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A request of the user to stop long work, such as Ctrl-C. */
export interface StopRequest {
  isAsked(): boolean
  /** Ends the watch. Call it when the work is over. */
  release(): void
}

/**
 * Watches for signals to stop, so that long work can end between two steps.
 * After the first signal, the second one ends the process at once, as users expect.
 */
export function stopOnSignals(): StopRequest {
  let asked = false
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, ask)
  }
  const ask = (): void => {
    asked = true
    release()
  }
  for (const signal of SIGNALS) process.on(signal, ask)
  return { isAsked: () => asked, release }
}
