import { useMemo } from 'react'
import type { SessionDetail, SessionRow } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import type { CallProblem } from '../../api/call-api.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnChange } from '../../api/use-refetch.js'
import { useLive } from '../../live/use-live.js'
import { mergeEvents } from './timeline-items.js'

/** Events after which a session is fetched again: they change briefs, archives, losses or chain. */
const REFETCH_EVENTS: ReadonlySet<Event['type']> = new Set([
  ...([
    'level_crossed',
    'cycle_started',
    'compaction_complete',
    'archive_created',
    'loss_report',
    'recovery_delivered',
  ] as const),
  ...(['handoff_requested', 'handoff_started', 'handoff_completed', 'handoff_failed', 'handoff_cancelled'] as const),
  'session_ended',
])

interface SessionQuery {
  session: SessionDetail | null
  /** False while only the live row of the session has arrived. */
  whole: boolean
  problem: CallProblem | null
  refetch: () => void
}

/**
 * Returns a fetched session merged with its live row.
 * Fetches the session again after events that the row does not include.
 * Until the first reply the row alone is returned, so that the page shows known figures at once.
 */
export function useSession(id: string): SessionQuery {
  const { data, problem, refetch } = useCall('session', { id })
  const sessionId = data?.session_id ?? id
  const row = useLive((live) => live.sessions.get(sessionId))
  const changed = useLastEventId(sessionId, REFETCH_EVENTS)
  useRefetchOnChange(refetch, changed)
  // A handoff's new session starts after this one's last event and makes the chain longer.
  const seatId = row?.seat_id ?? data?.seat_id
  const lastStartId = useLive(
    (live) => live.feed.findLast((event) => event.type === 'session_started' && event.seat_id === seatId)?.id ?? 0,
  )
  useRefetchOnChange(refetch, lastStartId)
  // Fetch again after rows were removed, so that forgotten briefs and archives disappear.
  const gone = useLive((live) => live.gone)
  useRefetchOnChange(refetch, gone)
  const session = useMemo(() => {
    if (data === null)
      return row === undefined ? null : { ...row, ...DETAIL_DEFAULTS, cycle_started_at: row.started_at }
    // A reply that is newer than the row wins, an older one is overwritten by the row.
    return row === undefined || row.seen_at < data.seen_at ? data : { ...data, ...row }
  }, [data, row])
  return { session, whole: data !== null, problem, refetch }
}

/** Values of the fields that live rows do not have, until the session is fetched. */
const DETAIL_DEFAULTS = {
  cycle_reason: '',
  limits_reason: '',
  plan_limits: null,
  config_trouble: null,
  chain: [],
  briefs: [],
  archives: [],
  losses: [],
} satisfies Omit<SessionDetail, keyof SessionRow | 'cycle_started_at'>

/** Id of the last live event of these types about a session or its seat. 0 when there is none. */
export function useLastEventId(sessionId: string, types: ReadonlySet<Event['type']>): number {
  return useLive(
    (live) => live.feed.findLast((event) => event.session_id === sessionId && types.has(event.type))?.id ?? 0,
  )
}

export interface SessionEvents {
  events: readonly Event[]
  problem: CallProblem | null
  loading: boolean
  refetch: () => void
}

/** Fetched and live events of a session except readings, oldest first. */
export function useEvents(id: string): SessionEvents {
  const { data, problem, loading, refetch } = useCall('events', {
    query: { session: id, without_readings: true, limit: 5_000 },
  })
  const feed = useLive((live) => live.feed)
  const events = useMemo(() => {
    const fetched = (data?.events ?? []).filter(({ type }) => type !== 'reading')
    return mergeEvents(
      fetched,
      feed.filter(({ session_id }) => session_id === id),
    )
  }, [data, feed, id])
  return { events, problem: data === null ? problem : null, loading, refetch }
}
