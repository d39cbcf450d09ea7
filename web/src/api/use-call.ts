import { useCallback, useEffect, useRef, useState } from 'react'
import type { ReplyOf, RouteName } from '../../../src/contract/api/routes.js'
import { useLive } from '../live/use-live.js'
import { type CallArgs, type CallProblem, callApi, problemFrom } from './call-api.js'
import { useKey } from './key.js'

interface CallState<T> {
  /** Null until the first reply. Stays while the route is called again. */
  data: T | null
  problem: CallProblem | null
  /** True while the first reply is awaited. */
  loading: boolean
  refetch: () => void
}

/**
 * Calls a route that only reads, and calls it again when the key changes.
 * Calls it also when the event stream was reconnected: data may have changed meanwhile.
 * Makes no call while `args` is null.
 */
export function useCall<N extends RouteName>(
  name: N,
  args: Omit<CallArgs<N>, 'signal' | 'body'> | null,
): CallState<ReplyOf<N>> {
  const epoch = useLive((live) => live.epoch)
  const key = useKey()
  const [turn, setTurn] = useState(0)
  const request = args === null ? null : `${name} ${JSON.stringify(args)}`
  const [answer, setAnswer] = useState<{
    request: string
    data: ReplyOf<N> | null
    problem: CallProblem | null
  } | null>(null)
  const first = useRef(epoch)
  // The first snapshot arrives after the page's first call and is no reason for a second one.
  const round = first.current === 0 && epoch === 1 ? 0 : epoch
  // biome-ignore lint/correctness/useExhaustiveDependencies: round, key and turn are reasons to call again
  useEffect(() => {
    if (args === null || request === null) return
    const stop = new AbortController()
    callApi(name, { ...args, signal: stop.signal } as CallArgs<N>).then(
      (data) => stop.signal.aborted || setAnswer({ request, data, problem: null }),
      (error) =>
        stop.signal.aborted ||
        setAnswer((before) => ({
          request,
          data: before?.request === request ? before.data : null,
          problem: problemFrom(error),
        })),
    )
    return () => stop.abort()
  }, [request, round, key, turn])
  const refetch = useCallback(() => setTurn((before) => before + 1), [])
  const reply = answer?.request === request ? answer : null
  return {
    data: reply?.data ?? null,
    problem: reply?.problem ?? null,
    loading: request !== null && reply === null,
    refetch,
  }
}
