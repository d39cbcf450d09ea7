import { useMemo } from 'react'
import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
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

/** One session as it was asked for, with the figures of its live row, asked for again when what is in neither has changed. */
export function useSession(id: string): { session: SessionDetail | null; problem: CallProblem | null; again: () => void } {
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
  useSoon(
    useLive((live) => live.gone),
    again,
  )
  const session = useMemo(() => {
    if (data === null) return null
    // A page asked for before the row changed says less; one asked for later says more.
    return row === undefined || row.seen_at < data.seen_at ? data : { ...data, ...row }
  }, [data, row])
  return { session, problem, again }
}

/** The id of the last live event of these types about a session, or its seat; 0: none. */
export function useLastOf(sessionId: string, types: ReadonlySet<Event['type']>): number {
  return useLive((live) => live.feed.findLast((event) => event.session_id === sessionId && types.has(event.type))?.id ?? 0)
}
