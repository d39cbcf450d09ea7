import { useMemo } from 'react'
import type { SessionDetail, SessionRow } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import type { CallProblem } from '../../api/call-api.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnChange } from '../../api/use-refetch.js'
import { useLive } from '../../live/use-live.js'
import { mergeEvents } from './timeline-items.js'

/** After these the rest of a session's page is another: briefs, archives, losses, levels, its chain. */
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
  /** False: only its live row is here yet. */
  whole: boolean
  problem: CallProblem | null
  again: () => void
}

/**
 * One session as it was asked for, with the figures of its live row, asked for again when what is in neither has changed. Until the answer
 * comes the row alone is shown: whoever opens a row sees at once what it said.
 */
export function useSession(id: string): SessionQuery {
  const { data, problem, again } = useCall('session', { id })
  const sessionId = data?.session_id ?? id
  const row = useLive((live) => live.sessions.get(sessionId))
  const changed = useLastEventId(sessionId, REFETCH_EVENTS)
  useRefetchOnChange(again, changed)
  // The fresh session begins after this one has told its last: its seat's chain is longer then.
  const seatId = row?.seat_id ?? data?.seat_id
  const begun = useLive(
    (live) => live.feed.findLast((event) => event.type === 'session_started' && event.seat_id === seatId)?.id ?? 0,
  )
  useRefetchOnChange(again, begun)
  // What was forgotten of it is not shown again.
  const gone = useLive((live) => live.gone)
  useRefetchOnChange(again, gone)
  const session = useMemo(() => {
    if (data === null)
      return row === undefined ? null : { ...row, ...DETAIL_DEFAULTS, cycle_started_at: row.started_at }
    // A page asked for before the row changed says less; one asked for later says more.
    return row === undefined || row.seen_at < data.seen_at ? data : { ...data, ...row }
  }, [data, row])
  return { session, whole: data !== null, problem, again }
}

/** What no row tells. */
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

/** The id of the last live event of these types about a session, or its seat; 0: none. */
export function useLastEventId(sessionId: string, types: ReadonlySet<Event['type']>): number {
  return useLive(
    (live) => live.feed.findLast((event) => event.session_id === sessionId && types.has(event.type))?.id ?? 0,
  )
}

export interface SessionEvents {
  events: readonly Event[]
  problem: CallProblem | null
  loading: boolean
  again: () => void
}

/** Everything but readings that happened in a session, oldest first, and what happens. */
export function useEvents(id: string): SessionEvents {
  const { data, problem, loading, again } = useCall('events', {
    query: { session: id, without_readings: true, limit: 5_000 },
  })
  const feed = useLive((live) => live.feed)
  const events = useMemo(() => {
    const told = (data?.events ?? []).filter(({ type }) => type !== 'reading')
    return mergeEvents(
      told,
      feed.filter(({ session_id }) => session_id === id),
    )
  }, [data, feed, id])
  return { events, problem: data === null ? problem : null, loading, again }
}
