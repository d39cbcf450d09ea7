import type { HandoffCause } from '../../contract/records/handoff.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Store } from '../../store/store.js'

/** The calling agent's session id. Null when the user calls. */
export type Caller = string | null

export type Role = Extract<HandoffCause, 'agent' | 'parent' | 'user'>

/**
 * Returns the caller's role towards a session, null for a caller without one.
 * A handoff may be requested by the session's own agent, by its parent's agent or by the user.
 */
function roleOf(store: Store, caller: Caller, target: Pick<SessionRecord, 'sessionId' | 'seatId'>): Role | null {
  if (caller === null) return 'user'
  if (caller === target.sessionId) return 'agent'
  const seatId = store.session(caller)?.seatId
  if (seatId === undefined) return null
  if (seatId === target.seatId) return 'agent'
  return store.seat(target.seatId)?.parentSeatId === seatId ? 'parent' : null
}

/** Returns the caller's role. Throws for a caller without one. */
export function requireRole(store: Store, caller: Caller, target: Pick<SessionRecord, 'sessionId' | 'seatId'>): Role {
  const role = roleOf(store, caller, target)
  if (role !== null) return role
  throw new BatonError(
    `Session ${caller!.slice(0, 8)} may not decide about the handoff of session ${target.sessionId.slice(0, 8)}.`,
    'Only that session, its parent seat or the user may.',
    EXIT.refused,
  )
}

/** Returns the reviewer's role. Throws for the agent that wrote the brief. */
export function requireReviewer(
  store: Store,
  caller: Caller,
  target: Pick<SessionRecord, 'sessionId' | 'seatId'>,
): Role {
  const role = requireRole(store, caller, target)
  if (role !== 'agent') return role
  throw new BatonError(
    'An agent cannot review the briefs of its own seat.',
    'The user or the parent seat reviews them. Give a better brief with baton handoff <file>: the last one counts.',
    EXIT.refused,
  )
}
