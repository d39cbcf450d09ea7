import type { HandoffRecord } from '../../contract/records/handoff.js'
import { isAlive } from '../../lib/process-info.js'
import type { EngineDependencies } from '../context.js'
import { isForking } from './handoffs.js'
import { noticedBy } from './missed-orders.js'

/** Something has to be typed for it: the clear, or the prompt that begins a fresh session no mod begins. */
export function isTyped({ state, way, client }: HandoffRecord): boolean {
  return Boolean(client) && ((state === 'clearing' && way === 'tmux') || (state === 'confirmed' && way !== 'mod'))
}

/**
 * How long a driver stands ready before there is anything to type. A brief is written in a minute or
 * two; later than this, a driver is started when it has something to type.
 */
const READY_MS = 10 * 60_000

/** The session is about to be left, and its terminal can be typed into. */
export function isBefore({ state, client }: HandoffRecord): boolean {
  return Boolean(client) && (state === 'requested' || state === 'checked')
}

/** True while a driver has to stand ready, so that nobody waits for its start at the end of the turn. */
export function isSoonTyped({ now }: Pick<EngineDependencies, 'now'>, handoff: HandoffRecord): boolean {
  return isBefore(handoff) && now().getTime() - Date.parse(handoff.stateAt) < READY_MS
}

export function isUndriven(handoff: HandoffRecord): boolean {
  return isTyped(handoff) && !hasDriver(handoff)
}

export function hasDriver({ driver }: HandoffRecord): boolean {
  return Boolean(driver) && isAlive(driver!)
}

/** A fork is to write its brief, and nobody sees to it. */
export function isUnforked(handoff: HandoffRecord): boolean {
  return isForking(handoff) && !hasDriver(handoff)
}

/**
 * When somebody has to look at it who waits for nothing else, milliseconds: its review ends by itself, or its turn may without a word, or the
 * order to clear may not be noticed, in a session that may have nobody else to see it. One that has ended is looked at by the next start.
 * null: nobody has to.
 */
export function awaitedAt(deps: EngineDependencies, handoff: HandoffRecord): number | null {
  const { state, dueAt, sessionId } = handoff
  if (state === 'clearing') return noticedBy(deps, handoff)
  if ((state !== 'review' && state !== 'checked') || dueAt === null) return null
  return deps.store.session(sessionId)?.state === 'ended' ? null : Date.parse(dueAt)
}

export function needsWatcher(deps: EngineDependencies, handoff: HandoffRecord): boolean {
  return awaitedAt(deps, handoff) !== null && !hasDriver(handoff)
}
