import { useMemo } from 'react'
import type { Event } from '../../../../src/contract/event.js'
import type { CallProblem } from '../../api.js'
import { useLive } from '../../live/use-live.js'
import { joined } from '../../timeline/items.js'
import { useCall } from '../../use-call.js'

export interface Happened {
  events: readonly Event[]
  problem: CallProblem | null
  loading: boolean
  again: () => void
}

/** Everything but readings that happened in a session, oldest first, and what happens. */
export function useEvents(id: string): Happened {
  const { data, problem, loading, again } = useCall('events', { query: { session: id, without_readings: true, limit: 5_000 } })
  const feed = useLive((live) => live.feed)
  const events = useMemo(() => {
    const told = (data?.events ?? []).filter(({ type }) => type !== 'reading')
    return joined(
      told,
      feed.filter(({ session_id }) => session_id === id),
    )
  }, [data, feed, id])
  return { events, problem: data === null ? problem : null, loading, again }
}
