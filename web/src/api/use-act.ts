import { useState } from 'react'
import { type CallProblem, problemFrom } from './call-api.js'

/** Runs an action on the server. `busy` is true while it runs; `trouble` is its error, if any. */
export function useAction(): {
  busy: boolean
  trouble: CallProblem | null
  act: (action: () => Promise<void>) => void
  reset: () => void
} {
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<CallProblem | null>(null)
  const act = (action: () => Promise<void>): void => {
    setBusy(true)
    setTrouble(null)
    action()
      .catch((error) => setTrouble(problemFrom(error)))
      .finally(() => setBusy(false))
  }
  return { busy, trouble, act, reset: () => setTrouble(null) }
}
