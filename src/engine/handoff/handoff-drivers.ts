import type { HandoffRecord } from '../../contract/records/handoff.js'
import { isAlive } from '../../lib/process-info.js'
import type { EngineDependencies } from '../context.js'
import { isForking } from './handoffs.js'
import { orderPickupDeadline } from './missed-orders.js'

/**
 * True when a background process must type the clear or the first prompt of a fresh session.
 * A session with a plugin module needs no such process.
 */
export function needsTyping({ state, way, client }: HandoffRecord): boolean {
  return Boolean(client) && ((state === 'clearing' && way === 'tmux') || (state === 'confirmed' && way !== 'mod'))
}

/**
 * Milliseconds that a typing process waits before there is anything to type.
 * A brief takes a minute or two. After this time the process is started when there is text to type.
 */
const READY_MS = 10 * 60_000

/** True when the session is about to be cleared and Baton can type into its terminal. */
export function isBeforeTyping({ state, client }: HandoffRecord): boolean {
  return Boolean(client) && (state === 'requested' || state === 'checked')
}

/**
 * True while a typing process (driver) must run although there is nothing to type yet.
 * A process that already waits can type as soon as the turn ends. See `READY_MS` for the limit.
 */
export function needsReadyDriver({ now }: Pick<EngineDependencies, 'now'>, handoff: HandoffRecord): boolean {
  return isBeforeTyping(handoff) && now().getTime() - Date.parse(handoff.stateAt) < READY_MS
}

export function lacksDriver(handoff: HandoffRecord): boolean {
  return needsTyping(handoff) && !hasDriver(handoff)
}

export function hasDriver({ driver }: HandoffRecord): boolean {
  return Boolean(driver) && isAlive(driver!)
}

/** True when a fork of the session must write the brief and no living process runs it. */
export function lacksForkDriver(handoff: HandoffRecord): boolean {
  return isForking(handoff) && !hasDriver(handoff)
}

/**
 * Returns when a background process must check the handoff, in milliseconds.
 * At that time its review ends, its turn may have ended without a signal, or its order is late.
 * Null when no check is needed. An ended session is checked by the next start instead.
 */
export function awaitedAt(deps: EngineDependencies, handoff: HandoffRecord): number | null {
  const { state, dueAt, sessionId } = handoff
  if (state === 'clearing') return orderPickupDeadline(deps, handoff)
  if ((state !== 'review' && state !== 'checked') || dueAt === null) return null
  return deps.store.session(sessionId)?.state === 'ended' ? null : Date.parse(dueAt)
}

export function needsWatcher(deps: EngineDependencies, handoff: HandoffRecord): boolean {
  return awaitedAt(deps, handoff) !== null && !hasDriver(handoff)
}
