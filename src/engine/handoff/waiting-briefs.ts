import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { Signal } from '../../contract/signal.js'
import type { Store } from '../../store/store.js'

/** What waited for longer may speak of work that is over: the person decides. */
const FRESH_MS = 12 * 3_600_000

/** Handoffs whose session has ended and whose brief waits for a start in the folder of this one, by a person. */
export function waitingHere(store: Store, signal: Signal, at: string): HandoffRecord[] {
  if (signal.start?.source !== 'startup' || signal.attended !== true || signal.cwd === null || signal.jobId !== null)
    return []
  return store.openHandoffs().filter((handoff) => {
    const session = isReady(handoff, at) ? store.session(handoff.sessionId) : null
    // An agent may have changed into another folder since.
    return session?.state === 'ended' && (session.cwd === signal.cwd || session.project === signal.cwd)
  })
}

function isReady({ state, way, dueAt }: HandoffRecord, at: string): boolean {
  if (state === 'review') return dueAt !== null && dueAt <= at
  return state === 'waiting' && way === 'start'
}

/** Too old to be taken up unasked. */
export function isOld({ state, stateAt, dueAt }: HandoffRecord, at: string): boolean {
  const since = (state === 'review' ? dueAt : null) ?? stateAt
  return Date.parse(at) - Date.parse(since) > FRESH_MS
}
