import { useCallback, useEffect, useRef, useState } from 'react'
import type { ReplyOf, RouteName } from '../../../src/contract/api/routes.js'
import { useLive } from '../live/use-live.js'
import { type CallArgs, type CallProblem, call, problemFrom } from './call-api.js'
import { useKey } from './key.js'

interface CallState<T> {
  /** null: not here yet. Stays while it is asked for again. */
  data: T | null
  problem: CallProblem | null
  /** Nothing is here, and it is being asked for. */
  loading: boolean
  again: () => void
}

/**
 * Asks a route that reads, and asks again when the stream begins anew (the server was away) or the key changes. `args` null: nothing is
 * asked yet.
 */
export function useCall<N extends RouteName>(
  name: N,
  args: Omit<CallArgs<N>, 'signal' | 'body'> | null,
): CallState<ReplyOf<N>> {
  const epoch = useLive((live) => live.epoch)
  const key = useKey()
  const [turn, setTurn] = useState(0)
  const what = args === null ? null : `${name} ${JSON.stringify(args)}`
  const [answer, setAnswer] = useState<{ what: string; data: ReplyOf<N> | null; problem: CallProblem | null } | null>(
    null,
  )
  const first = useRef(epoch)
  // The first snapshot comes after the page has asked: it is no reason to ask twice.
  const round = first.current === 0 && epoch === 1 ? 0 : epoch
  // biome-ignore lint/correctness/useExhaustiveDependencies: round, key and turn are reasons to ask again
  useEffect(() => {
    if (args === null || what === null) return
    const stop = new AbortController()
    call(name, { ...args, signal: stop.signal } as CallArgs<N>).then(
      (data) => stop.signal.aborted || setAnswer({ what, data, problem: null }),
      (error) =>
        stop.signal.aborted ||
        setAnswer((before) => ({
          what,
          data: before?.what === what ? before.data : null,
          problem: problemFrom(error),
        })),
    )
    return () => stop.abort()
  }, [what, round, key, turn])
  const again = useCallback(() => setTurn((before) => before + 1), [])
  const mine = answer?.what === what ? answer : null
  return { data: mine?.data ?? null, problem: mine?.problem ?? null, loading: what !== null && mine === null, again }
}
