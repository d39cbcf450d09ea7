import { useCallback, useEffect, useRef, useState } from 'react'
import { type CallProblem, call, problemFrom } from '../../api.js'
import { useKey } from '../../key.js'
import { useLive } from '../../live/use-live.js'
import { type LogState, NOTHING_READ } from './log-fold.js'
import { type LogReader, makeLogReader } from './log-reader.js'

/** A client says things between two events of its job: while it works it is listened to more often. */
const EVERY_MS = 1_000

/**
 * The log of a job, read to its end, and on when the job tells something. `atWork`: its clients may say something at any time. It is of one
 * job as long as it is used: another job is another component.
 */
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
  const known = useRef(NOTHING_READ)
  const reader = useRef<LogReader | null>(null)
  const isShutOut = key === null && problem?.status === 401

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is a reason to ask again, behind what is known
  useEffect(() => {
    const own = makeLogReader(
      {
        part: (after, signal) => call('jobLog', { id: jobId, query: after === null ? {} : { after }, signal }),
        told(next, isEnd) {
          known.current = next
          setLog(next)
          if (!isEnd) return
          setRead(true)
          setProblem(null)
        },
        failed: (error) => setProblem(problemFrom(error)),
      },
      known.current,
    )
    reader.current = own
    return () => own.stop()
  }, [jobId, key])

  useEffect(() => {
    if (!atWork) return
    const timer = setInterval(() => document.visibilityState === 'visible' && setTurn((before) => before + 1), EVERY_MS)
    return () => clearInterval(timer)
  }, [atWork])

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is told, the clock and a new stream are reasons to read on
  useEffect(() => {
    if (!isShutOut) reader.current?.readOn()
  }, [jobId, key, epoch, told, turn])

  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { log, read, problem, again }
}
