import type { Event } from '../contract/event.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { isAlive } from '../lib/process-info.js'
import { deskFor } from './desk.js'
import type { Parts } from './draft.js'
import { isForking } from './handoffs.js'
import { noticedBy } from './overlooked.js'
import type { ReadFacts } from './read-facts.js'

/** Handoffs no signal moves on: those whose time has come are looked at, orders are followed, and those nobody types or waits for get a process that does. */
export function lookAtHandoffs(parts: Parts): Event[] {
  const now = parts.now().toISOString()
  const due = parts.store.dueHandoffs(now)
  const ordered = parts.store.openHandoffs().filter(({ state, way }) => state === 'clearing' && way === 'mod')
  const looked = new Map([...due, ...ordered].map((handoff) => [handoff.handoffId, handoff]))
  const events = [...looked.values()].flatMap(({ handoffId, sessionId, stale }) => {
    // Before the store is locked: it may take a second.
    const read = stale ? parts.around().readLeft(parts, sessionId) : null
    return parts.store.transaction(() => look(parts, handoffId, now, read))
  })
  const isLeft = (handoff: HandoffRecord): boolean => isUndriven(handoff) || isUnawaited(parts, handoff) || isUnforked(handoff)
  if (parts.store.openHandoffs().some(isLeft)) parts.leaveWork('handoff')
  return events
}

function look(parts: Parts, handoffId: string, now: string, read: ReadFacts | null): Event[] {
  const handoff = parts.store.handoff(handoffId)
  const record = handoff && parts.store.session(handoff.sessionId)
  const agent = record && parts.agents[record.agent]
  if (!record || !agent) return []
  const desk = Object.assign(deskFor(parts, agent, record), { read })
  if (handoff.dueAt !== null && handoff.dueAt <= now) parts.around().lookAtDue(desk, handoff)
  else parts.around().lookAtOrder(desk, handoff)
  return desk.events
}

/** Something has to be typed for it: the clear, or the prompt that begins a fresh session no mod begins. */
export function isTyped({ state, way, client }: HandoffRecord): boolean {
  return Boolean(client) && ((state === 'clearing' && way === 'tmux') || (state === 'confirmed' && way !== 'mod'))
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
export function awaitedAt(parts: Parts, handoff: HandoffRecord): number | null {
  const { state, dueAt, sessionId } = handoff
  if (state === 'clearing') return noticedBy(parts, handoff)
  if ((state !== 'review' && state !== 'checked') || dueAt === null) return null
  return parts.store.session(sessionId)?.state === 'ended' ? null : Date.parse(dueAt)
}

export function isUnawaited(parts: Parts, handoff: HandoffRecord): boolean {
  return awaitedAt(parts, handoff) !== null && !hasDriver(handoff)
}
