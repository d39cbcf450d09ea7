import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { Signal } from '../../contract/signal.js'
import type { Store } from '../../store/store.js'

/** Milliseconds after which a waiting brief may be outdated, so the user decides. */
const FRESH_MS = 12 * 3_600_000

/** Returns handoffs of ended sessions whose brief waits for an attended start in this folder. */
export function handoffsWaitingHere(store: Store, signal: Signal, at: string): HandoffRecord[] {
  if (signal.start?.source !== 'startup' || signal.attended !== true || signal.cwd === null || signal.jobId !== null)
    return []
  return store.openHandoffs().filter((handoff) => {
    const session = isReady(handoff, at) ? store.session(handoff.sessionId) : null
    // The agent may have changed to another folder, so both folders count.
    return session?.state === 'ended' && (session.cwd === signal.cwd || session.project === signal.cwd)
  })
}

function isReady({ state, way, dueAt }: HandoffRecord, at: string): boolean {
  if (state === 'review') return dueAt !== null && dueAt <= at
  return state === 'waiting' && way === 'start'
}

/** True when the brief is too old to be used without being requested. */
export function isTooOldToUse({ state, stateAt, dueAt }: HandoffRecord, at: string): boolean {
  const since = (state === 'review' ? dueAt : null) ?? stateAt
  return Date.parse(at) - Date.parse(since) > FRESH_MS
}
