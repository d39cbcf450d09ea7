import type { HandoffCause, HandoffRecord, HandoffState } from '../contract/handoff.js'
import type { Message } from '../contract/message.js'
import { type Desk, type Draft, emit } from './draft.js'
import { cancelStale } from './messages.js'
import { sameProcess } from './wake.js'

const OVER = new Set<HandoffState>(['done', 'failed', 'cancelled'])

/** Interactive sessions alone: a run without a person is only warned, and a job's runner decides itself. */
export function mayHandOver({ record, policy, enabled }: Pick<Draft, 'record' | 'policy' | 'enabled'>): boolean {
  return enabled && record.jobId === null && record.attended === true && policy.handoff.mode === 'auto'
}

export interface Asked {
  cause: HandoffCause
  level: string | null
  reason: string | null
  unattended: boolean
}

/** The handoff this session takes part in and that is not over; null: none. */
export function openHandoff({ parts, record }: Pick<Desk, 'parts' | 'record'>): HandoffRecord | null {
  const found = record.handoffId ? parts.store.handoff(record.handoffId) : null
  return found && !OVER.has(found.state) ? found : null
}

/** A session that another client runs, at the same time and perhaps under the same seat's name. */
function runsElsewhere({ parts, record }: Pick<Desk, 'parts' | 'record'>, sessionId: string, mayHaveEnded: boolean): boolean {
  const other = sessionId === record.sessionId ? null : parts.store.session(sessionId)
  if (!other?.process || record.process === null || sameProcess(other.process, record.process)) return false
  return (mayHaveEnded || other.state !== 'ended') && parts.agents[other.agent]?.alive(other.process) === true
}

/** Those under way in its seat, but for those of another client that bears the seat's name: each is handed over for itself. */
export function handoffsHere(desk: Pick<Desk, 'parts' | 'record'>): HandoffRecord[] {
  return desk.parts.store.openHandoffs({ seatId: desk.record.seatId }).filter((handoff) => {
    // Between the end of a session and the beginning of the next one its client is at it.
    const { state, sessionId, newSessionId } = handoff
    return !runsElsewhere(desk, newSessionId ?? sessionId, state === 'clearing')
  })
}

/** A fork of its session writes the brief, or is about to. */
export function isForking({ state, fork }: HandoffRecord): boolean {
  return state === 'requested' && fork?.outcome === null
}

/** Begins a handoff of this session. The last request wins: an earlier one of the seat is over. */
export function beginHandoff(desk: Desk, asked: Asked): HandoffRecord {
  const { parts, record, at } = desk
  for (const earlier of handoffsHere(desk)) cancelHandoff(desk, earlier, 'a later request took its place')
  const { used, limits } = record.track
  const handoff: HandoffRecord = {
    handoffId: `handoff_${parts.newId()}`,
    seatId: record.seatId,
    sessionId: record.sessionId,
    state: 'requested',
    ...asked,
    requestedAt: at,
    stateAt: at,
    dueAt: null,
    asked: 0,
    draft: null,
    briefId: null,
    way: null,
    failedWays: [],
    orderId: null,
    newSessionId: null,
    number: parts.store.handoffs({ seatId: record.seatId }).filter(({ state }) => state === 'done').length + 1,
    usedTokens: used,
    windowTokens: limits.window,
    pointTokens: limits.point,
    trouble: null,
  }
  parts.store.putHandoff(handoff)
  record.handoffId = handoff.handoffId
  emit(desk, 'handoff_requested', {
    ...{ handoff_id: handoff.handoffId, cause: asked.cause, level: asked.level, reason: asked.reason, number: handoff.number },
  })
  return handoff
}

/** Stored before anything is done about it. */
export function moveHandoff(
  { parts, at }: Pick<Desk, 'parts' | 'at'>,
  handoff: HandoffRecord,
  state: HandoffState,
  change: Partial<HandoffRecord> = {},
): HandoffRecord {
  const moved = { ...handoff, dueAt: null, ...change, state, stateAt: at }
  parts.store.putHandoff(moved)
  return moved
}

export function cancelHandoff(desk: Desk, handoff: HandoffRecord, why: string): void {
  withdraw(desk, handoff)
  moveHandoff(desk, handoff, 'cancelled', { trouble: why })
  markBrief(desk, handoff, 'cancelled')
  hush(desk, why)
  emit(desk, 'handoff_cancelled', { ...fieldsOf(handoff), handoff_id: handoff.handoffId, reason: why })
}

/** Nobody wants this session's handoff any more. One that the client has begun to carry out is left to it. */
export function stopHandoff(desk: Desk, why: string): void {
  const handoff = openHandoff(desk)
  if (handoff === null || !isToLeave(desk, handoff)) return
  if (handoff.state !== 'clearing' || withdraw(desk, handoff)) cancelHandoff(desk, handoff, why)
}

/** The session is the one to be handed over, and no fresh one has begun. */
export function isToLeave({ record }: Pick<Desk, 'record'>, { sessionId, newSessionId }: HandoffRecord): boolean {
  return sessionId === record.sessionId && newSessionId === null
}

export function failHandoff(desk: Desk, handoff: HandoffRecord, why: string): void {
  moveHandoff(desk, handoff, 'failed', { trouble: why })
  markBrief(desk, handoff, 'failed')
  hush(desk, why)
  emit(desk, 'handoff_failed', { ...fieldsOf(handoff), handoff_id: handoff.handoffId, reason: why })
}

/** What was still to be said about it is not said any more, also where an idle session is just being woken with it. */
export function hush(desk: Desk, why: string): void {
  const isOther = (sessionId: string | null): boolean => sessionId !== null && runsElsewhere(desk, sessionId, false)
  cancelStale(desk, why, (message: Message) => message.category === 'handoff' && !isOther(message.session_id))
}

/** The fresh session works: the handoff is over. */
export function arriveHandoff(desk: Desk, handoff: HandoffRecord): void {
  const done = moveHandoff(desk, handoff, 'done')
  emit(desk, 'handoff_completed', { handoff_id: done.handoffId, brief_id: done.briefId, way: done.way, ...fieldsOf(done) })
}

/**
 * An order that was not begun is taken back. False: it was begun. One for a process that types is over with the state it was given in,
 * unless the first key was announced: whoever types asks for both in one transaction (`beginTyping`).
 */
export function withdraw({ parts, record }: Pick<Desk, 'parts' | 'record'>, handoff: HandoffRecord): boolean {
  if (handoff.way === 'tmux') return handoff.state !== 'clearing' || !handoff.typing
  const agent = parts.agents[record.agent]
  if (handoff.orderId === null || !agent?.withdraw) return true
  try {
    return agent.withdraw(parts.liveDir, handoff.sessionId, handoff.orderId)
  } catch (error) {
    parts.log('warn', 'an order could not be taken back', { handoff: handoff.handoffId, reason: String(error) })
    return false
  }
}

function markBrief({ parts }: Pick<Desk, 'parts'>, { briefId }: HandoffRecord, status: 'cancelled' | 'failed'): void {
  const brief = briefId === null ? null : parts.store.brief(briefId)
  if (brief && brief.status !== 'used') parts.store.putBrief({ ...brief, status })
}

/** What the events of a handoff tell. */
export function fieldsOf(handoff: HandoffRecord): Record<string, unknown> {
  const { usedTokens, windowTokens } = handoff
  return {
    agentName: null,
    jobId: null,
    oldSessionId: handoff.sessionId,
    newSessionId: handoff.newSessionId,
    usagePercent: usedTokens === null || windowTokens === null ? null : usedTokens / windowTokens,
    inputTokens: usedTokens,
    contextWindow: windowTokens,
    handoffNumber: handoff.number,
    ...(handoff.fork ? { fork: handoff.fork.outcome ?? 'not needed any more' } : {}),
  }
}
