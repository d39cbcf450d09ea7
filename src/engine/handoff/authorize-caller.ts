import type { HandoffCause } from '../../contract/records/handoff.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Store } from '../../store/store.js'

/** The session whose agent asks; null: a person does. */
export type Caller = string | null

export type Role = Extract<HandoffCause, 'agent' | 'parent' | 'user'>

/** What somebody is to a session: only the seat itself, its parent and the user may ask for its handoff. null: a stranger. */
export function roleOf(store: Store, caller: Caller, target: Pick<SessionRecord, 'sessionId' | 'seatId'>): Role | null {
  if (caller === null) return 'user'
  if (caller === target.sessionId) return 'agent'
  const seatId = store.session(caller)?.seatId
  if (seatId === undefined) return null
  if (seatId === target.seatId) return 'agent'
  return store.seat(target.seatId)?.parentSeatId === seatId ? 'parent' : null
}

/** Throws for a stranger. */
export function admit(store: Store, caller: Caller, target: Pick<SessionRecord, 'sessionId' | 'seatId'>): Role {
  const role = roleOf(store, caller, target)
  if (role !== null) return role
  throw new BatonError(
    `Session ${target.sessionId.slice(0, 8)} is not this one's (${caller!.slice(0, 8)}), nor a child of its seat.`,
    'Only a session itself, its parent seat or the user decides about its handoff.',
    EXIT.refused,
  )
}

/** A brief that waits for review waits for somebody else than the one who wrote it. */
export function admitReviewer(store: Store, caller: Caller, target: Pick<SessionRecord, 'sessionId' | 'seatId'>): Role {
  const role = admit(store, caller, target)
  if (role !== 'agent') return role
  throw new BatonError(
    'An agent does not review the briefs of its own seat.',
    'The user or the parent seat does. To give a better brief, run baton handoff <file>: the last one counts.',
    EXIT.refused,
  )
}
