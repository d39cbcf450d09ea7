import { useMemo } from 'react'
import type { SessionDetail, SessionRow } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/event.js'
import type { CallProblem } from '../../api.js'
import { useLive } from '../../live/use-live.js'
import { useCall } from '../../use-call.js'
import { useSoon } from '../../use-soon.js'

/** After these the rest of a session's page is another: briefs, archives, losses, levels, its chain. */
const CHANGES: ReadonlySet<Event['type']> = new Set([
  ...(['level_crossed', 'cycle_started', 'compaction_complete', 'archive_created', 'loss_report', 'recovery_delivered'] as const),
  ...(['handoff_requested', 'handoff_started', 'handoff_completed', 'handoff_failed', 'handoff_cancelled'] as const),
  'session_ended',
])

export interface SessionAsked {
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
export function useSession(id: string): SessionAsked {
  const { data, problem, again } = useCall('session', { id })
  const sessionId = data?.session_id ?? id
  const row = useLive((live) => live.sessions.get(sessionId))
  const changed = useLastOf(sessionId, CHANGES)
  useSoon(changed, again)
  // The fresh session begins after this one has told its last: its seat's chain is longer then.
  const seatId = row?.seat_id ?? data?.seat_id
  const begun = useLive(
    (live) => live.feed.findLast((event) => event.type === 'session_started' && event.seat_id === seatId)?.id ?? 0,
  )
  useSoon(begun, again)
  // What was forgotten of it is not shown again.
  const gone = useLive((live) => live.gone)
  useSoon(gone, again)
  const session = useMemo(() => {
    if (data === null) return row === undefined ? null : { ...row, ...NOT_TOLD, cycle_started_at: row.started_at }
    // A page asked for before the row changed says less; one asked for later says more.
    return row === undefined || row.seen_at < data.seen_at ? data : { ...data, ...row }
  }, [data, row])
  return { session, whole: data !== null, problem, again }
}

/** What no row tells. */
const NOT_TOLD = {
  ...{ cycle_reason: '', limits_reason: '', plan_limits: null, config_trouble: null },
  ...{ chain: [], briefs: [], archives: [], losses: [] },
} satisfies Omit<SessionDetail, keyof SessionRow | 'cycle_started_at'>

/** The id of the last live event of these types about a session, or its seat; 0: none. */
export function useLastOf(sessionId: string, types: ReadonlySet<Event['type']>): number {
  return useLive((live) => live.feed.findLast((event) => event.session_id === sessionId && types.has(event.type))?.id ?? 0)
}
