import { useState } from 'react'
import { type CallProblem, problemFrom } from './call-api.js'

/** One thing that is done on the server: whether it is under way, and why it did not work. */
export function useAct(): {
  busy: boolean
  trouble: CallProblem | null
  act: (what: () => Promise<void>) => void
  reset: () => void
} {
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<CallProblem | null>(null)
  const act = (what: () => Promise<void>): void => {
    setBusy(true)
    setTrouble(null)
    what()
      .catch((error) => setTrouble(problemFrom(error)))
      .finally(() => setBusy(false))
  }
  return { busy, trouble, act, reset: () => setTrouble(null) }
}
