import { useCallback, useEffect, useState } from 'react'
import { type CallProblem, call, problemFrom } from '../../api.js'
import { useKey } from '../../key.js'
import { useLive } from '../../live/use-live.js'
import { addPart, type LogState, NOTHING_READ } from './log-fold.js'

/** A client says things between two events of its job: while it works it is listened to more often. */
const EVERY_MS = 1_000

/** The log of a job, read to its end, and on when the job tells something. `atWork`: its clients may say something at any time. */
export function useJobLog(
  jobId: string,
  atWork: boolean,
): { log: LogState; read: boolean; problem: CallProblem | null; again: () => void } {
  const key = useKey()
  const epoch = useLive((live) => live.epoch)
  const told = useLive((live) => live.feed.findLast((event) => event.job_id === jobId)?.id ?? 0)
  const [turn, setTurn] = useState(0)
  const [log, setLog] = useState(NOTHING_READ)
  const [read, setRead] = useState(false)
  const [problem, setProblem] = useState<CallProblem | null>(null)

  useEffect(() => {
    if (!atWork) return
    const timer = setInterval(() => document.visibilityState === 'visible' && setTurn((before) => before + 1), EVERY_MS)
    return () => clearInterval(timer)
  }, [atWork])

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is told, the clock and a new stream are reasons to read on
  useEffect(() => {
    if (key === null && problem?.status === 401) return
    const stop = new AbortController()
    const readOn = async (): Promise<void> => {
      let state = log
      do {
        const query = state.next === null ? {} : { after: state.next }
        state = addPart(state, await call('jobLog', { id: jobId, query, signal: stop.signal }))
        if (stop.signal.aborted) return
        setLog(state)
      } while (state.more)
      setRead(true)
      setProblem(null)
    }
    readOn().catch((error) => stop.signal.aborted || setProblem(problemFrom(error)))
    return () => stop.abort()
  }, [jobId, key, epoch, told, turn])

  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { log, read, problem, again }
}
